/* `sched replay`: a recording as what each task does, in order: run for a time, sleep until it is woken, wake another one. Knows no
 * threads. */
#pragma once
#include "analysis/sched/events.h"

enum replay_kind { REPLAY_RUN, REPLAY_SLEEP, REPLAY_WAKE };

#define REPLAY_NO_SIGNAL 0xffffffffu

struct replay_step {
	enum replay_kind kind;
	uint32_t signal;       /* a sleep waits for this one, and a wake-up sends it; REPLAY_NO_SIGNAL: neither */
	uint64_t run_ns;
};

struct replay_task {
	int32_t tid;
	char name[20];         /* by which the task was seen first */
	VEC(struct replay_step) steps;
};

struct replay {
	struct sched_reader reader;
	VEC(struct replay_task) tasks;
	struct idmap by_tid;
	VEC(uint64_t) last;    /* by CPU: time of its last switch; 0: none */
	uint32_t signals;
	/* Numbers of steps, of wake-ups of tasks that do not sleep, or are woken already, and of runs that continue the one before. */
	uint64_t runs, sleeps, wakes, targetless, repeated, joined;
	uint64_t backwards;    /* switches older than the one before on their CPU, which are left out */
};

void replay_init(struct replay *replay);
void replay_fini(struct replay *replay);
/* After the session has run: each task wakes the next one at the end, so that none sleeps for ever. */
void replay_finish(struct replay *replay);
