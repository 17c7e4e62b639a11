/* What is measured: which threads, on which CPUs, and the command that may be started for it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "os/cpus.h"
#include "os/process.h"

/* As the user says it; strings borrowed. */
struct target_options {
	const char *pids, *tids;    /* "12,34"; NULL */
	const char *uid;            /* name or number; NULL */
	const char *cpus;           /* -C; NULL */
	bool all_cpus;              /* -a */
	bool per_thread;            /* --per-thread */
	bool command;               /* a command will be started: with nothing else said, it is the target */
};

struct target_thread {
	pid_t tid;                  /* -1: any */
	char comm[PROCESS_COMM_SIZE];
};

struct target {
	VEC(struct target_thread) threads;
	struct cpus cpus;           /* -1 alone: threads are followed on whatever CPU */
	struct cpus online;         /* whatever -C says: where processes are followed */
	bool cpus_given;            /* -C */
	bool system_wide;           /* -a or -C: CPUs, not threads */
	bool attached;              /* -p, -t or -u: running threads */
	bool from_tids;             /* -t */
	bool per_thread;
	bool command;               /* the target is the command to be started; its id is set by target_set_command */
};

/* Resolves names and lists. A sentence about options that exclude each other is left in *warning (static; NULL: none). */
int target_open(struct target *target, const struct target_options *options, const char **warning, struct error *err);
void target_close(struct target *target);
void target_set_command(struct target *target, pid_t pid);
/* Whether one of the threads still exists. */
bool target_lives(const struct target *target);
