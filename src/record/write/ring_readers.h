/* Ring readers (--threads): threads that read a part of the rings each, and write the content of each ring to a
 * separate file, beside the main file of the recording in a folder, compressed or not. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "os/cpus.h"
#include "record/acquire/build_reader.h"
#include "record/acquire/counters.h"

/* One ring reader: the CPUs whose rings it reads, and the CPUs on which it runs. */
struct reader_group {
	struct cpus rings, affinity;
};

struct reader_groups {
	VEC(struct reader_group) list;
};

/* "cpu", "core", "package", "numa", or "CPUS/CPUS[:CPUS/CPUS…]": rings, then where their reader runs. */
int reader_groups_parse(struct reader_groups *groups, const char *text, struct error *err);
void reader_groups_fini(struct reader_groups *groups);

struct ring_readers;

struct ring_reader_totals {
	uint64_t bytes;                  /* written */
	uint64_t wakeups;
	uint64_t compressed_from, compressed_to;
};

struct ring_readers_options {
	const struct reader_groups *groups; /* borrowed; the first reads the rings of CPUs that are in no group */
	int level;                       /* of zstd; 0: not compressed */
	uint64_t limit;                  /* bytes after which ring_readers_fd is readable; 0: no limit */
	struct build_reader *builds;     /* receives the records; NULL; borrowed */
	bool may_raise, at_once;         /* the priorities of the readers: see urgency_open */
};

/* Makes data.N in a folder (output.inside) for ring N and starts the readers. */
int ring_readers_start(struct ring_readers **ring_readers, struct counters *counters, const struct ring_readers_options *options,
	int folder, struct error *err);
/* A descriptor that is readable when the tasks of all rings have ended, the limit is reached, or a reader failed. */
int ring_readers_fd(const struct ring_readers *ring_readers);
/* The tasks of all rings have ended, or a reader failed. */
bool ring_readers_ended(const struct ring_readers *ring_readers);
/* Copies the remaining records, ends the threads, closes the files. < 0 and *err if anything failed. To be called once. */
int ring_readers_stop(struct ring_readers *ring_readers, struct error *err);
struct ring_reader_totals ring_readers_totals(const struct ring_readers *ring_readers);
void ring_readers_free(struct ring_readers *ring_readers); /* accepts NULL; stops running threads */
