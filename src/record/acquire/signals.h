/* The signals that end or steer a recording: blocked, and read from a descriptor, while it is made; as the caller had them afterwards. */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

enum { SIGNALS_MAX = 24 };

struct signals {
	int fd;                                  /* to read them from: signalfd; -1: not open */
	sigset_t old_mask;
	struct {
		int number;
		struct sigaction old;
	} held[SIGNALS_MAX];                     /* whose action was changed */
	unsigned count;
	int ended_by;                            /* the last signal that asks for the end; 0: none came */
	bool child, user;                        /* SIGCHLD, SIGUSR2 have come; the reader clears them */
	bool active;
};

/* Holds every signal that would end the process without a fault in it, and SIGCHLD; SIGUSR2 too where it means something here (user),
 * else it is ignored. What the caller ignores stays ignored, except SIGINT, SIGTERM, SIGCHLD and SIGUSR2. */
int signals_open(struct signals *signals, bool user, struct error *err);
/* Reads what has come. The SIGPIPE and SIGXFSZ of a write of our own count for nothing: the write has failed, and says so. */
void signals_read(struct signals *signals);
/* Takes what has come, then gives everything back: nothing is left that would end the process now. */
void signals_close(struct signals *signals);
/* In a child before its exec: everything as the caller of the recorder had it. */
void signals_restore(const struct signals *signals);
/* From here on a further SIGQUIT ends the process at once. */
void signals_let_quit(const struct signals *signals);
