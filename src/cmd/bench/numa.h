/* The work of `bench numa mem`: tasks that access memory, and how fast they are. */
#pragma once
#include "base/error.h"
#include "cmd/command.h"

struct numa_options {
	unsigned processes, threads, seconds, sleep_us;
	int loops;                        /* -1: no limit */
	int huge_pages;                   /* > 0: ask for them, < 0: refuse them */
	const char *global_mb, *process_mb, *locked_mb, *thread_mb;
	const char *cpus, *nodes;         /* of the first tasks; NULL: anywhere */
	const char *const *words;         /* of the command line, which is printed */
	int word_count;
	bool reads, writes, backwards, random, zero;
	bool init_zero, init_random, init_first_cpu;
	bool convergence, until_convergence, details, quiet, serialized;
};

/* Runs the tasks and prints the results. ERROR_USAGE: an option is wrong. */
int numa_run(struct cli *cli, const struct numa_options *options, struct error *err);
