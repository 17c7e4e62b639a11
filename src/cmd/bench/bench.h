/* The options of all benchmarks, and perf's collections of them: each collection is a command whose words are its benchmarks. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/bench/numa.h"
#include "cmd/command.h"
#include "os/machine.h"

struct format;

/* What the benchmarks before measured, for those that compare with them. */
struct bench_times {
	unsigned count;
	uint64_t first_us, last_us;
};

struct bench_options {
	const struct format *format;
	const char *style;       /* of all collections: default, simple, or a format of tables */
	unsigned runs;           /* of all collections; 0: not given */
	/* switch */
	const char *model, *set, *sweep, *cpus;
	unsigned pairs, bytes, stride, repeat;
	uint64_t rounds, work_ns, sleep_ns;
	bool histogram, counters;
	/* the others */
	unsigned breakpoints, parallel, started, passive, active; /* threads, except the first */
	unsigned groups, loops, threads, futexes, seconds, wakes, wakers, requeues, descriptors;
	bool pipes, threaded, shared, silent, lock_memory, broadcast, multiple, several, nonblocking, edge, oneshot, synchronous;
	const char *size, *function;
	const char *events, *pids, *tids, *uid; /* of internals, which has cpus, too */
	uint64_t iterations, inner_iterations; /* 0: not given */
	struct bench_times *before; /* NULL: not compared */
	unsigned clones, mappings, samples;
	int verbose;
	bool all_cpus, per_thread, single;
	struct numa_options numa;
};

extern const struct command command_bench_sched, command_bench_syscall, command_bench_mem, command_bench_futex, command_bench_epoll,
	command_bench_breakpoint, command_bench_internals, command_bench_uprobe, command_bench_numa;
int bench_inject_run(struct cli *cli, void *options, int argc, const char **argv); /* internals inject-build-id */
extern const struct command bench_find_bit; /* of the collection `mem` */

static inline bool bench_is_simple(const struct bench_options *options)
{
	return options->style && !strcmp(options->style, "simple");
}

/* Prints "Total time" as perf does, or the seconds alone. */
void bench_print_time(const struct cli *cli, const struct bench_options *options, uint64_t ns);
/* The same, and the time of an operation. */
void bench_print_rate(const struct cli *cli, const struct bench_options *options, uint64_t ns, uint64_t operations);
/* Runs the benchmark argv[0] of a collection (ends with NULL), or all of them. Returns an exit code. */
int bench_collection_run(struct cli *cli, const char *collection, const struct command *const *list, struct bench_options *options,
	int argc, const char **argv);
