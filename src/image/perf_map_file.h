/* /tmp/perf-PID.map, in which just-in-time compilers name their code: any user can make a file of that name. Knows no format. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "model/module.h"

/* The text of a process's perf map (MODULE_ANON), malloc'ed: of the place that the process sees as /tmp, or ours. Only a regular file,
 * no link to one; unless force, one of this user, of root, or of the user whose process lives (ERROR_PERMISSION). pid: the process, or -1
 * where it has ended or is another one (recorded_process). */
int perf_map_file_read(const struct module *module, int32_t pid, bool force, size_t limit, char **text, size_t *len, struct error *err);
/* Opens the perf map of a living process, in the place that the process sees as /tmp, for a copy: a regular file with one name, of the
 * user of the process and of no other, also not root. Returns a descriptor, or -1. *ended: the process has ended. */
int perf_map_file_open(int32_t pid, bool *ended);
