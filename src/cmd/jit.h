/* Names of JIT-compiled code for a command that shows samples: finds the dumps that a recording's mappings name, and warns of those that
 * cannot be used. */
#pragma once
#include "cmd/command.h"
#include "session/session.h"

struct jit_names {
	const struct cli *cli;
	const char *symfs;           /* NULL or "": not set */
	const struct header *header; /* of the recording */
	bool force;                  /* -f: dumps of other users, too */
	bool refused;                /* the warning of another user's dump was printed */
};

/* Lets the session look for dumps. names must outlive it. */
void jit_names_watch(struct jit_names *names, struct session_options *options);
/* After the run: warns if names could not be limited to their times. */
void jit_names_warn(const struct jit_names *names, const struct session *session);
