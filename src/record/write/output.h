/* The output of a recording: perf.data (an existing one becomes perf.data.old), another file, or a pipe. Another user may own the folder,
 * or write to it: files are accessed through the descriptor of the folder, no existing file is overwritten, links are followed only as
 * os/place.h describes, and only files of a recording are removed. */
#pragma once
#include <stdbool.h>

#include "base/error.h"

struct output {
	int fd;
	int at;               /* the folder that contains it; -1: a pipe, or not open */
	int inside;           /* of a folder: itself, for the files beside "data"; otherwise -1 */
	bool pipe;
	bool folder;          /* path is a folder, fd its file "data" */
	bool made;            /* it is a file or folder made here, not a device */
	bool renamed;         /* an older recording was moved to path.old */
	char name[256];       /* in `at` */
	char path[4096];      /* empty for a pipe */
};

bool output_is_pipe(const char *path);
/* path NULL: "-" if standard output is a pipe, otherwise "perf.data". */
int output_open(struct output *output, const char *path, struct error *err);
/* For a recording that is a folder with several files. */
int output_open_folder(struct output *output, const char *path, struct error *err);
/* Makes the file "data.INDEX" in the folder; its descriptor, or < 0. */
int output_part(int inside, size_t index, struct error *err);
/* Removes the file and moves the older recording back, if nothing was recorded or output_close failed. Closes it. */
void output_discard(struct output *output);
/* Accepts an output that was never opened, with descriptors -1. */
int output_close(struct output *output, struct error *err);
enum { OUTPUT_NAME_TAKEN = 1 };
/* Adds a suffix to the name, which is known only at the end of the recording; OUTPUT_NAME_TAKEN if there is a file of that name. */
int output_rename(struct output *output, const char *suffix, struct error *err);
/* Removes an earlier recording of that path in the same folder, which output_rename named. */
void output_remove(const struct output *output, const char *path);
