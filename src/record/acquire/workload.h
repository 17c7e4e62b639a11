/* The command that is measured: started, held before its exec until everything is ready, and waited for. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/acquire/signals.h"

struct workload {
	pid_t pid;          /* 0: not started, or workload_wait gave it up */
	int go;             /* a byte lets the command run; closed without one, it ends */
	int failed;         /* the exec's errno comes through here; the end of file tells success */
	bool reaped;
	int status;         /* as wait(2) gives it, once reaped */
};

/* Forks; the child waits. argv ends with NULL. stdout_to_stderr: the recording itself goes to stdout.
 * signals: what the command shall find as it was before. */
int workload_start(struct workload *workload, const char *const *argv, bool stdout_to_stderr, const struct signals *signals,
	struct error *err);
/* Lets it run. Returns when the program is running, or fails with the reason it could not be executed. */
int workload_run(struct workload *workload, struct error *err);
/* Notes the end of the child if it has come; true then and ever after. */
bool workload_ended(struct workload *workload);
/* Asks a child that still runs to end (SIGTERM). */
void workload_stop(struct workload *workload);
/* Waits for its end, or until one more signal asks for ours: the command may ignore SIGTERM. signals: open. */
void workload_wait(struct workload *workload, struct signals *signals);
