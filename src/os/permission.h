/* The permissions of this process to measure: sysctls and capabilities, and an error message that names the missing ones. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct permission {
	int paranoid;       /* kernel.perf_event_paranoid; 2 if it cannot be read */
	bool perfmon;       /* effective CAP_PERFMON or CAP_SYS_ADMIN */
	bool ptrace;        /* CAP_SYS_PTRACE */
	bool root;
};

void permission_read(struct permission *permission);

/* Returns whether kernel addresses in /proc/kallsyms are zero for this process. */
bool permission_hides_kernel(void);
/* The command that makes them visible, given the current sysctls (kernel/kallsyms.c checks both, and CAP_SYSLOG): "sysctl
 * kernel.kptr_restrict=0 kernel.perf_event_paranoid=1". 96 bytes suffice. */
void permission_show_kernel(char *command, size_t size);

/* Fills *err (ERROR_PERMISSION) for a counter that the kernel denied. `level`: the largest perf_event_paranoid that would allow it (-1
 * tracepoints and raw, 0 whole CPUs, 1 kernel, 2 own user space). `what`: "the whole system", "kernel code" … */
int permission_refused(struct error *err, const char *event, const char *what, int level);
