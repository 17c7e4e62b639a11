/* The states of tasks over time, from switches and wake-ups: which task runs on each CPU, which one waits for a CPU, which one is blocked,
 * for what, and which task woke it. The only interpreter of sched_switch: timehist, latency, off-CPU profiles and lanes read it. Knows no
 * recording and no tracepoint; its input are the functions below, in order of time.
 *
 * A turn is a task's stay on a CPU with the wait before it:
 *
 *     previous out ......... ready ......... in ========= out
 *                  blocked         runnable      running
 *
 * A preempted task is ready when it leaves the CPU; otherwise a wake-up makes it ready. A time that the recording does not contain is 0:
 * before the first event of a task or CPU. After lost events a part of a turn is unknown (wait_lost, run_lost), never invented: then a task
 * runs from the first event on that shows it on a CPU. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/sched/wait_reason.h"
#include "base/vec.h"

enum task_state {
	TASK_UNKNOWN,      /* no event yet, or none since events were lost */
	TASK_RUNNING,
	TASK_RUNNABLE,     /* waits for a CPU */
	TASK_BLOCKED,
	TASK_ENDED,
};

enum { TASK_NONE = -1, CPU_NONE = -1 };

struct turn {
	uint64_t previous_out; /* 0: unknown */
	uint64_t ready;        /* 0: no wake-up is known */
	uint64_t in, out;      /* 0: unknown */
	int32_t cpu;
	int32_t waker;         /* tid of the task that ran where the wake-up happened; TASK_NONE: unknown */
	uint8_t reason;        /* enum wait_reason: of the wait before the turn */
	char letter;           /* state of sched_switch at previous_out; 0: unknown */
	bool by_interrupt;     /* an interrupt woke the task while the waker ran */
	bool wait_lost;        /* the wait is not known, or when it ended */
	bool run_lost;         /* the task ran before `in`, too */
	bool ends;             /* the task ended with this turn */
	bool inferred;         /* `out` is not a recorded switch, but when another task was seen on the CPU */
};

struct task {
	int32_t tid;
	int32_t cpu;           /* of an idle task: its CPU; otherwise where it ran last, or CPU_NONE */
	uint8_t state;         /* enum task_state */
	uint8_t hint;          /* enum wait_reason, from states_hint: of the next wait */
	uint32_t losses;       /* value of states.losses at its last event */
	struct turn turn;      /* the current one */
};

static inline bool task_is_idle(const struct task *task)
{
	return task->tid == 0;
}

struct cpu_state {
	uint64_t first, last;  /* times of its switches; 0: none */
	int32_t before;        /* the thread id that left at `last` */
	uint64_t seen;         /* time of the last event that shows which task runs */
	uint32_t left;         /* the task that another one followed without a switch, whose turn is `left_turn`; STATES_NO_TASK: none */
	uint64_t left_seen;    /* when it was last seen */
	struct turn left_turn;
	uint32_t task;         /* that runs, index; STATES_NO_TASK: unknown */
	uint32_t idle;         /* its idle task, or STATES_NO_TASK */
	bool lost;             /* events were lost since `last` */
	bool guessed;          /* the wait of `task` is lost only because `in` is not exact */
};

#define STATES_NO_TASK 0xffffffffu

/* Callbacks, which do not change the states; NULL: not wanted. task: index in states.tasks. The turn is complete up to `in`, or up to
 * `out`. Only recorded switches begin a turn. */
struct states_sink {
	void *context;
	void (*turn_begins)(void *context, uint32_t task, const struct turn *turn);
	void (*turn_ends)(void *context, uint32_t task, const struct turn *turn);
};

struct states {
	struct states_sink sink;
	VEC(struct task) tasks;        /* each life of a thread id, and an idle task for each CPU */
	VEC(struct cpu_state) cpus;
	uint32_t **by_tid;             /* pages of the last life of each thread id: index + 1; 0, or no page: none */
	uint32_t losses;               /* number of states_lose */
	uint64_t gaps;                 /* tasks that were seen on a CPU without a switch to them: events are missing */
	uint64_t first, last;          /* times of switches; 0: none */
	uint64_t backwards;            /* events older than the one before */
	uint64_t now;
	uint32_t previous;             /* index of the task that the last switch took from its CPU */
};

struct task_switch {
	uint64_t time;                 /* ns */
	int32_t cpu;                   /* 0 … STATES_CPUS_MAX - 1 */
	int32_t previous, next;        /* tids; 0: the idle task of the CPU */
	int16_t previous_priority, next_priority; /* -1: unknown */
	char letter;                   /* of the previous task: R S D T t X Z P I; '?': unknown */
};

enum { STATES_CPUS_MAX = 4096, STATES_TIDS_MAX = 1 << 22 /* of Linux */ };

void states_init(struct states *states, const struct states_sink *sink);
void states_fini(struct states *states);

/* Returns the task with this id (of tid 0: of this CPU), which is added if it is unknown. The index is valid to the end.
 * STATES_NO_TASK: the thread id or, of tid 0, the CPU is out of range. */
uint32_t states_task(struct states *states, int32_t tid, int32_t cpu);
/* As before, or STATES_NO_TASK. */
uint32_t states_find(const struct states *states, int32_t tid, int32_t cpu);

/* Each of these fails with false, without effect, for a CPU or tid that is out of range. */
bool states_switch(struct states *states, const struct task_switch *event);
/* The task runs on this CPU; ran_ns: for that long at least. Every event with a tid and a CPU shows that. */
bool states_see(struct states *states, uint64_t time, int32_t cpu, int32_t tid, uint64_t ran_ns);
/* waker: the task that runs where the wake-up happens. Only the first wake-up of a wait counts. */
bool states_wake(struct states *states, uint64_t time, int32_t tid, int32_t waker, bool by_interrupt);
/* A new life of this thread id begins. */
bool states_fork(struct states *states, int32_t tid);
/* Sets why the task is blocked now or, if it runs, why it will be; WAIT_UNKNOWN: the cause has ended. */
bool states_hint(struct states *states, int32_t tid, enum wait_reason reason);
/* The same for the current or last wait alone, as events give it that are recorded when the wait ends. */
bool states_hint_once(struct states *states, int32_t tid, enum wait_reason reason);
/* Events of this CPU were lost before `time`: what runs there and all waits are unknown from now on. Another number: of every CPU. */
void states_lose(struct states *states, int32_t cpu);

/* Ends turns that another task's appearance ended, after the last event. */
void states_finish(struct states *states);

/* Parts of a turn in ns; false: unknown, then *ns is the known part. What began before the recording is 0 long. */
static inline bool turn_run(const struct turn *turn, uint64_t *ns)
{
	*ns = turn->in && turn->out > turn->in ? turn->out - turn->in : 0;
	return !turn->run_lost;
}

static inline bool turn_wait(const struct turn *turn, uint64_t *ns)
{
	*ns = turn->in && turn->previous_out && turn->in > turn->previous_out ? turn->in - turn->previous_out : 0;
	return !turn->wait_lost;
}

static inline bool turn_delay(const struct turn *turn, uint64_t *ns)
{
	*ns = turn->in && turn->ready && turn->in > turn->ready ? turn->in - turn->ready : 0;
	return !turn->wait_lost;
}
