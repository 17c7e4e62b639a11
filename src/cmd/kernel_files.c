#include "cmd/kernel_files.h"

#include <stdio.h>
#include <unistd.h>

static void find_file(char path[static PATH_MAX], const char *folder, const char *name)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s/kcore_dir/%s", folder, name) >= PATH_MAX || access(path, R_OK) != 0)
		path[0] = '\0';
}

int kernel_files_check(const char *vmlinux, const char *kallsyms, struct error *err)
{
	const char *named[] = { vmlinux, kallsyms };
	for (unsigned i = 0; i < 2; i++)
		if (named[i] && access(named[i], R_OK) != 0)
			return error_system(err, "cannot read '%s'", named[i]);
	return 0;
}

void kernel_files_find(struct kernel_files *files, const struct source *source, const char *path)
{
	*files = (struct kernel_files){ 0 };
	if (!source->header.directory)
		return;
	find_file(files->kallsyms, path, "kallsyms");
	find_file(files->kcore, path, "kcore");
}
