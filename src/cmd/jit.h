/* Names of JIT-compiled code for a command that shows samples: finds the dumps that a recording's mappings name, and says what was
 * wrong with them. */
#pragma once
#include "cmd/command.h"
#include "session/session.h"

struct jit_names {
	const struct cli *cli;
	const char *symfs;           /* NULL or "": none */
	const struct header *header; /* of the recording */
	bool force;                  /* -f: dumps of other users too */
	bool refused;                /* one was someone else's, and that was said */
};

/* Lets the session look for dumps. names must outlive it. */
void jit_names_watch(struct jit_names *names, struct session_options *options);
/* After the run: a warning where the times of dumps could not be told. */
void jit_names_warn(const struct jit_names *names, const struct session *session);
