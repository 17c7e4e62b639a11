/* Where a recording goes: perf.data (the one before becomes perf.data.old), another file, or a pipe. */
#pragma once
#include <stdbool.h>

#include "base/error.h"

struct output {
	int fd;
	bool pipe;
	bool folder;          /* path is a folder, fd its file "data" */
	bool renamed;         /* an older recording was moved to path.old */
	char path[4096];      /* empty for a pipe */
};

bool output_is_pipe(const char *path);
/* path NULL: "-" where standard output is a pipe, "perf.data" otherwise. */
int output_open(struct output *output, const char *path, struct error *err);
/* A recording that is a folder, with files beside the main one. */
int output_open_folder(struct output *output, const char *path, struct error *err);
/* Takes the file back, and the older recording to its place: nothing was recorded. */
void output_discard(struct output *output);
int output_close(struct output *output, struct error *err);
/* A new file beside it with the time in its name: the recording goes to `final` (its own name is not known before its end). */
int output_rename(struct output *output, const char *final, struct error *err);
