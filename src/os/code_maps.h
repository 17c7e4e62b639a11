/* The mappings of a process's code: asked for one by one where the kernel can (PROCMAP_QUERY, Linux 6.11), so that it does not print all
 * others as text; else those of /proc/PID/maps. */
#pragma once
#include "os/process.h"

/* What is the same for all processes: zeroed at first, then used for many. One thread at a time. */
struct code_maps {
	bool looked;
	struct process_map vsyscall; /* prot 0: processes do not have it */
};

/* As process_maps, for executable mappings alone. */
int process_code_maps(struct code_maps *common, pid_t pid, unsigned timeout_ms, bool *timed_out,
	int (*visit)(void *context, const struct process_map *map), void *context, struct error *err);
