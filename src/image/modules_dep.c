#include "image/modules_dep.h"

#include <string.h>

/* "kernel/sound/pci/hda/snd-hda-intel.ko.xz" is [snd_hda_intel]: the kernel replaces hyphens by underscores. */
static bool is_called(const char *path, size_t len, const char *name, size_t name_len)
{
	size_t start = len;
	while (start && path[start - 1] != '/')
		start--;
	if (len - start < name_len + 3 || memcmp(path + start + name_len, ".ko", 3) != 0)
		return false;
	for (size_t i = 0; i < name_len; i++) {
		char c = path[start + i];
		if ((c == '-' ? '_' : c) != (name[i] == '-' ? '_' : name[i]))
			return false;
	}
	return start + name_len + 3 == len || path[start + name_len + 3] == '.';
}

/* A line is "PATH: PATH PATH"; paths are relative to the folder or absolute. */
bool modules_dep_find(const char *text, const char *name, size_t name_len, const char **path, size_t *len)
{
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		*path = line;
		*len = strcspn(line, ":\n");
		if (is_called(line, *len, name, name_len))
			return true;
	}
	return false;
}
