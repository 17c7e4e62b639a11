/* `sched latency`: for each task how long it ran, how often it got a CPU, and how long it had waited for one when it was runnable. */
#pragma once
#include "analysis/sched/events.h"
#include "analysis/table/table.h"

enum latency_key { LATENCY_AVERAGE, LATENCY_MAXIMUM, LATENCY_SWITCHES, LATENCY_RUNTIME, LATENCY_PID, LATENCY_KEYS };

struct latency_options {
	const enum latency_key *keys;  /* order of rows, descending */
	size_t key_count;
	bool by_task;                  /* tasks with one name are separate rows */
	int32_t cpu;                   /* -C: only events of this CPU were recorded, so that each wake-up counts; CPU_NONE */
};

/* One row: a task, or all tasks with one name. */
struct latency_row {
	const char *name;
	uint32_t task;                 /* the one with the highest thread id */
	uint32_t merged;               /* number of tasks; 0: the row is of one task */
	uint64_t count;                /* turns whose wait for a CPU is known */
	uint64_t runtime_ns, delay_ns; /* runtime: as the scheduler accounts it */
	uint64_t max_ns, max_start, max_end;
};

struct latency_task;

struct latency {
	struct latency_options options;
	struct sched_reader reader;
	VEC(struct latency_task) tasks; /* by index in the states */
	VEC(struct latency_row) rows;   /* after latency_finish */
	VEC(uint64_t) current;          /* by CPU: tid that runs there, as perf counts contradictions; UINT64_MAX: unknown */
	uint64_t wakes, unordered, contradictions;
	uint64_t runtime_ns, count;     /* sums of rows */
};

/* "avg", "max", "switch", "runtime", "pid"; -1: another word. */
int latency_key_of(const char *word, size_t len);

/* options.keys: borrowed. */
void latency_init(struct latency *latency, const struct latency_options *options, bool live);
void latency_fini(struct latency *latency);
/* Makes the rows, after the session has run; may be called again. */
void latency_finish(struct latency *latency);
uint64_t latency_average_ns(const struct latency_row *row);
/* The rows as a table, valid as long as they are. */
struct table latency_table(struct latency *latency);
