/* The records of a recording of counts (`stat record`): what is counted where, and the counts. Knows no file. Source:
 * perf.data-file-format.txt, "PERF_RECORD_STAT*", "PERF_RECORD_THREAD_MAP", "PERF_RECORD_CPU_MAP"; recordings of perf. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/arena.h"
#include "base/vec.h"
#include "os/cpus.h"

/* What the rows of a recording were; numbers in STAT_CONFIG. */
enum stat_aggregation {
	STAT_BY_CPU, STAT_BY_NOTHING, STAT_BY_SOCKET, STAT_BY_DIE, STAT_BY_CLUSTER, STAT_BY_CACHE, STAT_BY_CORE, STAT_BY_THREAD, STAT_BY_UNKNOWN,
	STAT_BY_NODE, STAT_BY_COUNT
};

struct stat_config {
	enum stat_aggregation aggregation;
	uint32_t interval_ms;
	bool scale;
	uint32_t cache_level;    /* above STAT_CACHE_LEVEL_MAX: the last */
};
enum { STAT_CACHE_LEVEL_MAX = 4 };
enum stat_config_term { STAT_TERM_AGGREGATION, STAT_TERM_INTERVAL, STAT_TERM_SCALE, STAT_TERM_CACHE_LEVEL, STAT_TERM_COUNT };

struct stat_thread {
	int32_t tid;
	const char *comm;
};

struct stat_threads {
	VEC(struct stat_thread) list;
};

/* One count at the time of its reading. */
struct stat_value {
	uint64_t id, value, enabled, running;
	int32_t cpu;             /* -1: any */
	uint32_t thread;         /* index in THREAD_MAP */
};

enum stat_round_type { STAT_ROUND_INTERVAL = 0, STAT_ROUND_FINAL = 1 };

struct stat_round {
	uint64_t type, time_ns;
};

/* All return false if the record is too short or contradicts itself. The record is in native order. */
bool stat_config_read(const struct record *record, struct stat_config *config);
/* Appends the threads; names live in the arena. */
bool stat_threads_read(const struct record *record, struct arena *arena, struct stat_threads *threads);
/* Adds the CPUs; -1 is any CPU. */
bool stat_cpus_read(const struct record *record, struct cpus *cpus);
bool stat_value_read(const struct record *record, struct stat_value *value);
bool stat_round_read(const struct record *record, struct stat_round *round);
