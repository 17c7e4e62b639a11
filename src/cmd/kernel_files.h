/* A recording that is a folder may have the kernel's code beside it: DIR/data, DIR/kcore_dir/{kcore,kallsyms,modules}. */
#pragma once
#include <limits.h>

#include "base/error.h"
#include "data/source.h"

struct kernel_files {
	char kallsyms[PATH_MAX], kcore[PATH_MAX]; /* "": not there */
};

/* What the recording brought along. path: as it was opened. */
void kernel_files_find(struct kernel_files *files, const struct source *source, const char *path);
/* Whether what the user names can be read; NULL: nothing is named. */
int kernel_files_check(const char *vmlinux, const char *kallsyms, struct error *err);
/* The list that names come from: the one that is named, otherwise what was brought along, unless a vmlinux is named. */
static inline const char *kernel_files_kallsyms(const struct kernel_files *files, const char *kallsyms, const char *vmlinux)
{
	return kallsyms || vmlinux ? kallsyms : files->kallsyms;
}
