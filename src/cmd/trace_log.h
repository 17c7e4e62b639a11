/* The log of --itrace=d: the packets of a recording's hardware trace in the order of its file, as -D prints them, in intel_pt.log or
 * intel_bts.log in the current folder. */
#pragma once
#include "base/bytes.h"
#include "base/writer.h"
#include "cmd/command.h"
#include "data/source.h"

struct trace_log {
	struct cli *cli;   /* for messages; set by the owner, the rest is zeroed */
	struct writer out;
	int fd;
	bool begun, opened;
};

/* As struct trace_options has it; the context is a struct trace_log. The first piece creates the file; where that fails, a message says
 * why, and there is no log. */
void trace_log_piece(void *context, const struct record *record, struct span bytes, bool branches);
/* Completes the file; reports a failure to write it. */
void trace_log_close(struct trace_log *log);
