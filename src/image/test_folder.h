/* A temporary folder of a test. */
#pragma once
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

/* A folder that is removed with its content. */
struct folder {
	char root[32], path[PATH_MAX];
};

static inline void folder_open(struct folder *f)
{
	strcpy(f->root, "/tmp/image-test-XXXXXX");
	EXPECT(mkdtemp(f->root) != NULL);
}

static inline void folder_close(struct folder *f)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", f->root);
	EXPECT_INT(system(command), 0);
}

/* The path of a name in the folder, valid until the next call. */
static inline const char *folder_path(struct folder *f, const char *name)
{
	strcpy(f->path, f->root);
	strcat(strcat(f->path, "/"), name);
	return f->path;
}

static inline const char *folder_write(struct folder *f, const char *name, const void *data, size_t len)
{
	const char *path = folder_path(f, name);
	for (char *slash = f->path + strlen(f->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	FILE *file = fopen(path, "wb");
	EXPECT(file && fwrite(data, 1, len, file) == len);
	if (file)
		fclose(file);
	return path;
}
