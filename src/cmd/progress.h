/* How far a long read has come, on one line of a terminal's stderr; nothing elsewhere, and nothing for what is done at once. */
#pragma once
#include "cmd/command.h"
#include "session/session.h"

struct progress {
	const char *path;      /* what is being read */
	uint64_t started_ns;
	bool shown;
};

/* Lets the session tell *progress (which must outlive it), where anyone could see it. */
void progress_watch(struct progress *progress, const struct cli *cli, const char *path, struct session_options *options);
