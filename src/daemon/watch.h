/* Reports changes of files by their folders, so that a file that is replaced is noticed, too. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { WATCH_FILES_MAX = 2 };

struct watch {
	int fd;                   /* to poll for POLLIN */
	struct {
		int folder;       /* inotify's number */
		const char *name; /* borrowed from the path; NULL: unused */
	} files[WATCH_FILES_MAX];
};

/* paths: NULL or a missing folder is not watched. */
int watch_open(struct watch *watch, const char *const *paths, size_t count, struct error *err);
/* Whether one of the files was written or replaced since the last call. */
bool watch_changed(struct watch *watch);
void watch_close(struct watch *watch);
