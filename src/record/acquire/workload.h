/* The command of a measurement: started, held before its exec until the measurement is ready, and waited for. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/acquire/signals.h"

struct workload {
	pid_t pid;          /* 0: not started, or workload_wait gave it up */
	int go;             /* a byte lets the command run; if it is closed without one, the child ends */
	int failed;         /* receives the errno of the exec; end of file: it succeeded */
	void *stack;        /* of the child until its exec; NULL: it has a copy of this process */
	bool reaped;
	int status;         /* as wait(2) gives it, once reaped */
};

/* Starts a child, which waits. It shares the memory of this process until its exec, as a copy costs more than a short command. argv ends
 * with NULL. stdout_to_stderr: for a recording that is written to standard output. signals: restored in the child. */
int workload_start(struct workload *workload, const char *const *argv, bool stdout_to_stderr, const struct signals *signals,
	struct error *err);
/* Lets it run. Returns when the program is running; fails with the reason if it cannot be executed. */
int workload_run(struct workload *workload, struct error *err);
/* Returns whether the child has ended, and reaps it. */
bool workload_ended(struct workload *workload);
/* Asks a child that still runs to end (SIGTERM). */
void workload_stop(struct workload *workload);
/* Waits for its end, or until another signal asks for the end of this process: the command may ignore SIGTERM. signals: open if a child
 * was started. */
void workload_wait(struct workload *workload, struct signals *signals);
