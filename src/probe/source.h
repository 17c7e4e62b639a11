/* The source lines of a function or of a file, and those of them at which a probe can be placed. */
#pragma once
#include "probe/finder.h"

struct probe_lines {
	char *path;                   /* of a readable source file */
	const char *function;         /* as typed by the user; NULL: lines of a file */
	uint32_t first, last;         /* in the file; INT32_MAX: the end */
	uint32_t base;                /* number of the line that is shown as 0 */
	VEC(uint32_t) numbers;        /* ascending: lines with code */
};

int probe_lines_find(struct probe_target *target, const struct probe_range *range, const char *source_prefix, struct probe_lines *lines,
	struct error *err);
void probe_lines_fini(struct probe_lines *lines);
