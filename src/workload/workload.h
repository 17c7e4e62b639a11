/* Small programs with a known shape, which `test -w` runs to be measured. Names, arguments and functions are those of perf, as scripts look
 * for them in profiles. The layer is compiled without optimisation, so that each function has its own frame. It has variables that
 * change: a signal ends a loop, and one workload exists for its variable. Knows no event and no recording. */
#pragma once
#include <stddef.h>

struct workload {
	const char *name;
	/* argv: the words after the name; surplus words are ignored. Returns the exit code. */
	int (*run)(int argc, const char **argv);
};

/* NULL: unknown. */
const struct workload *workload_find(const char *name);
size_t workloads_count(void);
const struct workload *workloads_at(size_t i);
