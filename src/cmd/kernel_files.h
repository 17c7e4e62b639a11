/* A recording that is a folder may contain the kernel's code: DIR/data, DIR/kcore_dir/{kcore,kallsyms,modules}. */
#pragma once
#include <limits.h>

#include "base/error.h"
#include "data/source.h"

struct kernel_files {
	char kallsyms[PATH_MAX], kcore[PATH_MAX]; /* "": absent */
};

/* The files in the recording. path: as it was opened. */
void kernel_files_find(struct kernel_files *files, const struct source *source, const char *path);
/* Whether the files that the user names can be read; NULL: no file. */
int kernel_files_check(const char *vmlinux, const char *kallsyms, struct error *err);
/* The list that names come from: the one that the user names, otherwise the recording's, unless the user names a vmlinux. */
static inline const char *kernel_files_kallsyms(const struct kernel_files *files, const char *kallsyms, const char *vmlinux)
{
	return kallsyms || vmlinux ? kallsyms : files->kallsyms;
}
