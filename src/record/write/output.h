/* Where a recording goes: perf.data (the one before becomes perf.data.old), another file, or a pipe. Another user may own the folder, or
 * write to it: its files are reached through the folder's descriptor, nothing that is there is written over, no link is followed but as
 * os/place.h says, and only what a recording consists of is removed. */
#pragma once
#include <stdbool.h>

#include "base/error.h"

struct output {
	int fd;
	int at;               /* the folder that it lies in; -1: a pipe, or not open */
	int inside;           /* folder: itself, for the files beside "data"; -1 */
	bool pipe;
	bool folder;          /* path is a folder, fd its file "data" */
	bool made;            /* it is a file or folder of our own, not a device */
	bool renamed;         /* an older recording was moved to path.old */
	char name[256];       /* in `at` */
	char path[4096];      /* empty for a pipe */
};

bool output_is_pipe(const char *path);
/* path NULL: "-" where standard output is a pipe, "perf.data" otherwise. */
int output_open(struct output *output, const char *path, struct error *err);
/* A recording that is a folder, with files beside the main one. */
int output_open_folder(struct output *output, const char *path, struct error *err);
/* A file "data.INDEX" of a folder's, or < 0. */
int output_part(int inside, size_t index, struct error *err);
/* Takes the file back, and the older recording to its place: nothing was recorded, or output_close failed. Closes it. */
void output_discard(struct output *output);
/* Accepts one that was never opened, if its descriptors are -1. */
int output_close(struct output *output, struct error *err);
/* Adds the suffix to its name: the recording's own name is not known before its end. */
int output_rename(struct output *output, const char *suffix, struct error *err);
/* Removes an earlier recording of that path, which output_rename made beside this one. */
void output_remove(const struct output *output, const char *path);
