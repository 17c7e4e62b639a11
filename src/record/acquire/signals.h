/* Reads the signals that end or control a measurement from a descriptor: they are blocked while it is open, and restored afterwards. */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

enum { SIGNALS_MAX = 24 };

struct signals {
	int fd;                                  /* a signalfd; -1: not open */
	sigset_t old_mask;
	struct {
		int number;
		struct sigaction old;
	} changed[SIGNALS_MAX];                    /* those whose action was changed */
	unsigned count;
	int ended_by;                            /* the last signal that asks for the end; 0: no such signal arrived */
	bool child, user;                        /* SIGCHLD, SIGUSR2 arrived; the reader clears them */
	bool active;
};

/* Blocks SIGCHLD and every signal that would end the process, except faults; with `user` also SIGUSR2, which is ignored otherwise. Signals
 * that the caller ignores remain ignored, except SIGINT, SIGTERM, SIGCHLD and SIGUSR2. */
int signals_open(struct signals *signals, bool user, struct error *err);
/* Reads the signals that arrived. SIGPIPE and SIGXFSZ from a write of this process are ignored, as the write reports the failure. */
void signals_read(struct signals *signals);
/* Reads the signals that arrived, so that none of them ends the process now, then restores actions and mask. */
void signals_close(struct signals *signals);
/* In a child before its exec: restores actions and mask. If the caller of perfuse holds back SIGUSR2, it does so for perfuse: the child
 * does not. */
void signals_give(const struct signals *signals);
/* From here on a further SIGQUIT ends the process at once. */
void signals_let_quit(const struct signals *signals);
