/* The daemon: starts the sessions of its plan, restarts what a changed plan changes, answers clients, and ends on a signal or a request. It
 * outlives its sessions. Knows no option and no format of the configuration. */
#pragma once
#include "base/error.h"
#include "daemon/plan.h"
#include "daemon/session.h"

enum { SERVER_FILES_MAX = 2 };

struct server_options {
	const char *base_path;    /* absolute, as clients see it */
	int base, lock;           /* see daemon/base.h */
	struct session_program program;
	const char *record_name;  /* the program's name in the list: "perf" */
	bool verbose;
	const char *files[SERVER_FILES_MAX]; /* of the configuration: when one changes, read_plan is called. NULL: none */
	int (*read_plan)(void *context, struct plan *plan, struct error *err);
	void *context;
};

/* Takes ownership of the plan. Opens the socket and the watches; then calls ready, after which stdout is the log; serves until the end.
 * < 0: it could not begin. */
int server_run(const struct server_options *options, struct plan *plan, int (*ready)(void *context, struct error *err),
	struct error *err);
