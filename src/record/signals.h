/* The signals that end or steer a recording, held back so that they are read from a descriptor, and given back afterwards. */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

enum { SIGNALS_HELD = 3 };

struct signals {
	int fd;                                  /* to read them from: signalfd; -1: not open */
	sigset_t old_mask;
	struct sigaction old[SIGNALS_HELD + 1];  /* of the held ones, and of SIGUSR2 */
	bool held;
};

/* SIGINT, SIGTERM and SIGCHLD are held, SIGUSR2 too where it means something here (user), else it is ignored. */
int signals_open(struct signals *signals, bool user, struct error *err);
void signals_close(struct signals *signals);
/* In a child before its exec: everything as the caller of the recorder had it. */
void signals_restore(const struct signals *signals);
