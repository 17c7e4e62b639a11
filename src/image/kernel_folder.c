#include "image/kernel_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/file.h"
#include "image/modules_dep.h"

enum { LIST_SIZE_MAX = 64 << 20 };

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
		bool fits = modules_dep_find(text, name + 1, name_len - 2, &found, &found_len);
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
