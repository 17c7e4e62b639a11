/* The progress of a long read, on one line of stderr if that is a terminal. A short read prints nothing. */
#pragma once
#include "cmd/command.h"
#include "session/session.h"

struct progress {
	const char *path;      /* what is being read */
	uint64_t started_ns;
	bool shown;
};

/* Lets the session report to *progress (which must outlive it), if stderr is a terminal. */
void progress_watch(struct progress *progress, const struct cli *cli, const char *path, struct session_options *options);
