/* A hardware trace that comes through a pipe: its pieces follow the records that they belong to, so that it is decoded from a file that
 * the pipe is copied to. The file has no name. */
#pragma once
#include "base/error.h"
#include "data/source.h"

struct piped_trace {
	bool is_open;
	int file;                  /* its descriptor */
	struct error stop;         /* why the pipe ended early; kind ERROR_NONE: it did not */
};

/* Replaces *source, which is closed, by the copy. */
int piped_trace_copy(struct piped_trace *trace, struct source **source, struct error *err);
void piped_trace_close(struct piped_trace *trace); /* accepts a zeroed one */
