/* One session of a daemon: a `record` that runs in its own folder below the base, controlled by two FIFOs there. Knows no configuration and
 * no client. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

enum session_state { SESSION_RUNS, SESSION_ENDS };

struct session {
	char *name, *run;         /* owned */
	pid_t pid;
	time_t start;
	enum session_state state; /* SESSION_ENDS: it got SIGTERM */
	int64_t kill_ms;          /* monotonic; SESSION_ENDS: when it gets SIGKILL */
};

/* How the record process is started. */
struct session_program {
	const char *path;         /* of the program */
	const char *name;         /* argv[0] */
};

/* Starts `NAME record --control=fifo:control,ack RUN...` in base/session-NAME with its output in the file "output" there. The process
 * ends with its daemon. */
int session_start(struct session *session, int base, const struct session_program *program, const char *name, const char *run,
	struct error *err);
void session_fini(struct session *session);
/* Asks it to end; it has wait_ms until session_overdue kills it. */
void session_stop(struct session *session, int64_t time_ms, unsigned wait_ms);
/* Kills a session whose time has passed. Returns the ms until its time is up, -1 if it does not have to end. */
int session_overdue(struct session *session, int64_t time_ms);

/* The ping of several sessions at once: sends "ping" to each, and waits wait_ms at most for all answers. answered[i]: session i has. */
void sessions_ping(struct session *const *sessions, size_t count, int base, unsigned wait_ms, bool *answered);
