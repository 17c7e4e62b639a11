/* The target of a measurement: threads, CPUs, and possibly a command that is started for it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "os/cpus.h"
#include "os/process.h"

struct target_thread {
	pid_t tid;                  /* -1: any */
	char comm[PROCESS_COMM_SIZE];
};

/* As on the command line; strings borrowed. */
struct target_options {
	const char *pids, *tids;    /* "12,34"; NULL */
	const char *uid;            /* name or number; NULL */
	const char *cpus;           /* -C; NULL */
	bool all_cpus;              /* -a */
	bool per_thread;            /* --per-thread */
	bool all_threads;           /* every thread of the machine, each separately, instead of pids … all_cpus */
	const struct target_thread *listed; /* those threads, if the caller has a list; borrowed until target_open returns */
	size_t listed_count;
	bool command;               /* a command will be started; it is the target if no other is given */
};

struct target {
	VEC(struct target_thread) threads;
	struct cpus cpus;           /* -1 alone: threads are measured on any CPU */
	struct cpus online;         /* all, also with -C: side-band is recorded on all of them */
	bool cpus_given;            /* -C */
	bool system_wide;           /* -a or -C: CPUs, not threads */
	bool attached;              /* -p, -t or -u: running threads */
	bool from_tids;             /* -t */
	bool of_this_user;          /* -u, with the user of this process, so that a command belongs to the target, too */
	bool per_thread;
	bool command;               /* the target is the command to be started; target_set_command sets its id */
};

/* Resolves names and lists. *warning: a sentence about options that exclude each other (static), or NULL. */
int target_open(struct target *target, const struct target_options *options, const char **warning, struct error *err);
void target_close(struct target *target);
/* The command was started: it is the target, or a part of it. */
void target_set_command(struct target *target, pid_t pid);
/* Whether one of the threads has not ended. */
bool target_lives(const struct target *target);
