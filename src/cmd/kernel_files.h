/* A recording that is a folder may have the kernel's code beside it: DIR/data, DIR/kcore_dir/{kcore,kallsyms,modules}. */
#pragma once
#include <limits.h>

#include "data/source.h"

struct kernel_files {
	char kallsyms[PATH_MAX], kcore[PATH_MAX]; /* "": not there */
};

/* What the recording brought along. path: as it was opened. */
void kernel_files_find(struct kernel_files *files, const struct source *source, const char *path);
