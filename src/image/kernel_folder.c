#include "image/kernel_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/file.h"

enum { LIST_SIZE_MAX = 64 << 20 };

/* "kernel/sound/pci/hda/snd-hda-intel.ko.xz" is [snd_hda_intel]: the kernel knows no hyphen. */
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

/* A line is "PATH: PATH PATH", from the folder or from the root. */
static bool find_line(const char *text, const char *name, size_t name_len, const char **path, size_t *len)
{
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		*path = line;
		*len = strcspn(line, ":\n");
		if (is_called(line, *len, name, name_len))
			return true;
	}
	return false;
}

bool kernel_folder_module(int root, const char *release, const char *name, char *path, size_t size)
{
	static const char *const folders[] = { "/lib/modules", "/usr/lib/modules" };
	size_t name_len = strlen(name);
	if (name_len < 3 || *name != '[' || name[name_len - 1] != ']' || !*release || strchr(release, '/') || strcmp(release, "..") == 0)
		return false;
	for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
		char list[512], *text;
		size_t len, found_len;
		const char *found;
		int n = snprintf(list, sizeof list, "%s/%s/modules.dep", folders[i], release);
		if (n >= (int)sizeof list || rooted_read(root, list, LIST_SIZE_MAX, &text, &len, NULL) < 0)
			continue;
		text = memory_resize(text, len + 1, 1);
		text[len] = '\0';
		bool fits = find_line(text, name + 1, name_len - 2, &found, &found_len);
		if (fits && *found == '/')
			n = snprintf(path, size, "%.*s", (int)found_len, found);
		else if (fits)
			n = snprintf(path, size, "%s/%s/%.*s", folders[i], release, (int)found_len, found);
		free(text);
		if (fits)
			return n > 0 && (size_t)n < size;
	}
	return false;
}
