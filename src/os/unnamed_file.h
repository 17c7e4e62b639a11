/* A new file that has no name before it is complete: when the program ends before, by whatever cause, nothing of it remains. Where the file
 * system has no unnamed files, it has a temporary name, which only a SIGKILL leaves behind. Knows no content. */
#pragma once
#include "os/checked.h"

struct unnamed_file {
	int fd;                  /* open for reading and writing */
	int folder;
	char name[256];
	struct fresh_file fresh; /* where fresh.fd == fd: it has a temporary name */
};

/* Fails if there is an entry of that name. Root follows no link of another user to its folder (os/place.h). < 0: nothing to drop. */
int unnamed_open(struct unnamed_file *file, const char *path, struct error *err);
/* Gives the file its name and closes it. Fails, as unnamed_open, rather than to replace an entry. */
int unnamed_keep(struct unnamed_file *file, struct error *err);
/* Opens a file of this user in $TMPDIR that gets no name: nothing removes or opens it, and nothing remains of it after a SIGKILL. */
int unnamed_temporary(struct error *err);
void unnamed_drop(struct unnamed_file *file); /* accepts one that was kept, or that unnamed_open rejected */
