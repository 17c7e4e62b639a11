#include "analysis/sched/states.h"

#include <stdlib.h>

void states_init(struct states *states, const struct states_sink *sink)
{
	*states = (struct states){ .sink = *sink };
}

enum { TID_PAGE_BITS = 10, TID_PAGE = 1 << TID_PAGE_BITS, TID_PAGES = STATES_TIDS_MAX / TID_PAGE };

void states_fini(struct states *states)
{
	vec_fini(&states->tasks);
	vec_fini(&states->cpus);
	for (size_t i = 0; states->by_tid && i < TID_PAGES; i++)
		free(states->by_tid[i]);
	free(states->by_tid);
	states->by_tid = NULL;
}

static bool cpu_is_valid(int32_t cpu)
{
	return cpu >= 0 && cpu < STATES_CPUS_MAX;
}

static bool tid_is_valid(int32_t tid)
{
	return tid > 0 && tid < STATES_TIDS_MAX;
}

static __attribute__((noinline)) struct cpu_state *add_cpu(struct states *states, int32_t cpu)
{
	while (states->cpus.count <= (size_t)cpu)
		vec_push(&states->cpus, ((struct cpu_state){ .task = STATES_NO_TASK, .idle = STATES_NO_TASK, .left = STATES_NO_TASK }));
	return &states->cpus.items[cpu];
}

static inline struct cpu_state *cpu_at(struct states *states, int32_t cpu)
{
	return __builtin_expect((size_t)cpu < states->cpus.count, 1) ? &states->cpus.items[cpu] : add_cpu(states, cpu);
}

static void set_life(struct states *states, int32_t tid, uint32_t index)
{
	if (!states->by_tid)
		states->by_tid = memory_zero(TID_PAGES, sizeof *states->by_tid);
	uint32_t **page = &states->by_tid[tid >> TID_PAGE_BITS];
	if (!*page)
		*page = memory_zero(TID_PAGE, sizeof **page);
	(*page)[tid % TID_PAGE] = index + 1;
}

static __attribute__((noinline)) uint32_t add_task(struct states *states, int32_t tid, int32_t cpu)
{
	uint32_t index = (uint32_t)states->tasks.count;
	vec_push(&states->tasks, ((struct task){ .tid = tid, .cpu = tid ? CPU_NONE : cpu, .losses = states->losses,
		.turn = { .cpu = CPU_NONE, .waker = TASK_NONE } }));
	if (tid)
		set_life(states, tid, index);
	else
		cpu_at(states, cpu)->idle = index;
	return index;
}

static inline uint32_t find(const struct states *states, int32_t tid, int32_t cpu)
{
	if (!tid)
		return (size_t)cpu < states->cpus.count ? states->cpus.items[cpu].idle : STATES_NO_TASK;
	if (!tid_is_valid(tid) || !states->by_tid)
		return STATES_NO_TASK;
	const uint32_t *page = states->by_tid[tid >> TID_PAGE_BITS];
	return page ? page[tid % TID_PAGE] - 1 : STATES_NO_TASK;
}

uint32_t states_find(const struct states *states, int32_t tid, int32_t cpu)
{
	return find(states, tid, cpu);
}

static inline uint32_t find_or_add(struct states *states, int32_t tid, int32_t cpu)
{
	uint32_t index = find(states, tid, cpu);
	if (__builtin_expect(index != STATES_NO_TASK, 1) || !(tid ? tid_is_valid(tid) : cpu_is_valid(cpu)))
		return index;
	return add_task(states, tid, cpu);
}

uint32_t states_task(struct states *states, int32_t tid, int32_t cpu)
{
	return find_or_add(states, tid, cpu);
}

/* The task of an event that only a living task can have: after the end of its last life it has a new one. */
static inline uint32_t living_task(struct states *states, int32_t tid, int32_t cpu)
{
	uint32_t index = find_or_add(states, tid, cpu);
	return states->tasks.items[index].state == TASK_ENDED ? add_task(states, tid, cpu) : index;
}

static void advance(struct states *states, uint64_t time)
{
	states->backwards += time < states->now;
	states->now = time;
}

static void drop_turn(struct task *task)
{
	task->state = TASK_UNKNOWN;
	task->turn = (struct turn){ .cpu = CPU_NONE, .waker = TASK_NONE, .wait_lost = true };
}

/* Ends the turn of the task that left the CPU without a switch. next: the task after it; NULL: unknown. */
static void end_left(struct states *states, struct cpu_state *cpu, const struct task *next)
{
	uint32_t index = cpu->left;
	if (__builtin_expect(index == STATES_NO_TASK, 1))
		return;
	struct turn turn = cpu->left_turn;
	bool exact = next && !next->turn.run_lost;
	turn.out = exact ? next->turn.in : cpu->left_seen;
	turn.inferred = true;
	cpu->left = STATES_NO_TASK;
	struct task *task = &states->tasks.items[index];
	if (exact && task_is_idle(task) && task->state == TASK_UNKNOWN) {
		task->state = TASK_RUNNABLE;
		task->turn = (struct turn){ .previous_out = turn.out, .ready = turn.out, .cpu = CPU_NONE, .waker = TASK_NONE,
			.reason = WAIT_PREEMPTED, .letter = 'R' };
	}
	if (states->sink.turn_ends)
		states->sink.turn_ends(states->sink.context, index, &turn);
}

/* Which task runs on a CPU becomes unknown. */
static void lose_cpu(struct states *states, struct cpu_state *cpu)
{
	end_left(states, cpu, cpu->task == STATES_NO_TASK ? NULL : &states->tasks.items[cpu->task]);
	if (cpu->task != STATES_NO_TASK) {
		struct task *task = &states->tasks.items[cpu->task];
		cpu->left = cpu->task;
		cpu->left_turn = task->turn;
		cpu->left_seen = cpu->seen;
		drop_turn(task);
	}
	cpu->task = STATES_NO_TASK;
}

/* A wait during which events were lost may have been several. */
static void check_wait(const struct states *states, struct task *task)
{
	if (task->losses != states->losses && task->state != TASK_RUNNING) {
		task->turn.wait_lost = true;
		if (task->state == TASK_BLOCKED)
			task->turn.reason = WAIT_UNKNOWN;
	}
	task->losses = states->losses;
}

/* A task that the recording shows on another CPU has left it without an event. */
static void leave_other_cpu(struct states *states, uint32_t index, int32_t cpu)
{
	const struct task *task = &states->tasks.items[index];
	if (__builtin_expect(task->state != TASK_RUNNING || task->cpu == cpu || !cpu_is_valid(task->cpu), 1))
		return;
	struct cpu_state *other = cpu_at(states, task->cpu);
	if (other->task != index)
		return;
	lose_cpu(states, other);
	states->gaps++;
}

/* A task has not run before its wake-up, but the scheduler's clock, which gives run times, is not exactly that of the events. */
static uint64_t after_wake(const struct task *task, uint64_t since)
{
	enum { TOLERANCE_NS = 20000 };
	return since < task->turn.ready && task->turn.ready - since <= TOLERANCE_NS ? task->turn.ready : since;
}

/* A task is on a CPU, and no switch to it was recorded. since: when it ran there at the latest; exact: it ran there no earlier. */
static void place_task(struct states *states, uint32_t index, int32_t cpu_number, uint64_t since, bool exact)
{
	struct cpu_state *cpu = cpu_at(states, cpu_number);
	states->gaps += !cpu->lost;
	if (cpu->task != STATES_NO_TASK)
		lose_cpu(states, cpu);
	leave_other_cpu(states, index, cpu_number);
	cpu = cpu_at(states, cpu_number);
	struct task *task = &states->tasks.items[index];
	check_wait(states, task);
	since = after_wake(task, since);
	exact = exact && !cpu->lost && since >= cpu->seen && since >= task->turn.ready;
	task->state = TASK_RUNNING;
	task->cpu = task->turn.cpu = cpu_number;
	task->turn.in = since > cpu->seen ? since : cpu->seen;
	task->turn.run_lost = !exact;
	cpu->guessed = !exact && !task->turn.wait_lost;
	task->turn.wait_lost |= !exact;
	cpu->task = index;
}

bool states_see(struct states *states, uint64_t time, int32_t cpu_number, int32_t tid, uint64_t ran_ns)
{
	if (!cpu_is_valid(cpu_number) || (tid && !tid_is_valid(tid)))
		return false;
	struct cpu_state *cpu = cpu_at(states, cpu_number);
	if (!cpu->first && !cpu->lost)
		return true; /* the recording of this CPU begins */
	/* the kernel reports a switch before it leaves the task, which may still cause events */
	enum { TAIL_NS = 20000 };
	if (!ran_ns && tid == cpu->before && time - cpu->last < TAIL_NS)
		return true;
	uint64_t since = ran_ns < time ? time - ran_ns : 0;
	struct task *task = cpu->task == STATES_NO_TASK ? NULL : &states->tasks.items[cpu->task];
	if (!task || task->tid != tid) {
		place_task(states, living_task(states, tid, cpu_number), cpu_number, since, ran_ns > 0);
	} else if (task->turn.run_lost && ran_ns && since < task->turn.in) {
		since = after_wake(task, since);
		bool exact = !cpu->lost && since >= task->turn.ready && cpu->left != STATES_NO_TASK && since >= cpu->left_seen;
		task->turn.in = since > cpu->last ? since : cpu->last;
		task->turn.run_lost = !exact;
		if (exact && cpu->guessed)
			task->turn.wait_lost = false;
	}
	cpu_at(states, cpu_number)->seen = time;
	return true;
}

/* The task that leaves the CPU must be the one that runs there. */
static void check_previous(struct states *states, const struct cpu_state *cpu, uint32_t index, const struct task_switch *event)
{
	if (__builtin_expect(cpu->task == index, 1))
		return;
	if (cpu->first || cpu->lost) {
		place_task(states, index, event->cpu, event->time, false);
		return;
	}
	leave_other_cpu(states, index, event->cpu); /* the recording of this CPU begins here */
	states->tasks.items[index].turn.in = 0;
}

static void end_turn(struct states *states, uint32_t index, const struct task_switch *event)
{
	struct task *task = &states->tasks.items[index];
	enum wait_reason reason = wait_reason_of(event->letter);
	task->turn.out = event->time;
	task->turn.cpu = task->cpu = event->cpu;
	task->turn.ends = reason == WAIT_DEAD;
	if (states->sink.turn_ends)
		states->sink.turn_ends(states->sink.context, index, &task->turn);
	task = &states->tasks.items[index];
	bool runnable = reason == WAIT_PREEMPTED;
	if (task->hint && !runnable && reason != WAIT_DEAD)
		reason = task->hint;
	task->state = runnable ? TASK_RUNNABLE : reason == WAIT_DEAD ? TASK_ENDED : TASK_BLOCKED;
	task->losses = states->losses;
	task->turn = (struct turn){ .previous_out = event->time, .ready = runnable ? event->time : 0, .cpu = CPU_NONE, .waker = TASK_NONE,
		.reason = reason, .letter = event->letter };
}

static void begin_turn(struct states *states, struct cpu_state *cpu, uint32_t index, const struct task_switch *event)
{
	struct task *task = &states->tasks.items[index];
	check_wait(states, task);
	task->state = TASK_RUNNING;
	task->cpu = task->turn.cpu = event->cpu;
	task->turn.in = event->time;
	cpu->task = index;
	if (states->sink.turn_begins)
		states->sink.turn_begins(states->sink.context, index, &task->turn);
}

bool states_switch(struct states *states, const struct task_switch *event)
{
	if (!cpu_is_valid(event->cpu) || (event->previous && !tid_is_valid(event->previous)) || (event->next && !tid_is_valid(event->next)))
		return false;
	advance(states, event->time);
	struct cpu_state *cpu = cpu_at(states, event->cpu);
	uint32_t previous = living_task(states, event->previous, event->cpu);
	check_previous(states, cpu, previous, event);
	end_left(states, cpu, &states->tasks.items[previous]);
	end_turn(states, previous, event);
	states->previous = previous;
	cpu->task = STATES_NO_TASK;
	uint32_t next = living_task(states, event->next, event->cpu);
	leave_other_cpu(states, next, event->cpu);
	cpu->first = cpu->first ? cpu->first : event->time;
	cpu->last = cpu->seen = event->time;
	cpu->before = event->previous;
	cpu->lost = false;
	states->first = states->first ? states->first : event->time;
	states->last = event->time;
	begin_turn(states, cpu, next, event);
	return true;
}

bool states_wake(struct states *states, uint64_t time, int32_t tid, int32_t waker, bool by_interrupt)
{
	if (!tid_is_valid(tid))
		return false;
	advance(states, time);
	uint32_t index = living_task(states, tid, CPU_NONE);
	struct task *task = &states->tasks.items[index];
	if (task->state != TASK_BLOCKED && (task->state != TASK_UNKNOWN || task->turn.ready))
		return true;
	check_wait(states, task);
	task->state = TASK_RUNNABLE;
	task->turn.ready = time;
	task->turn.waker = waker;
	task->turn.by_interrupt = by_interrupt;
	return true;
}

bool states_fork(struct states *states, int32_t tid)
{
	if (!tid_is_valid(tid))
		return false;
	uint32_t index = states_find(states, tid, CPU_NONE);
	if (index == STATES_NO_TASK)
		return true;
	const struct task *task = &states->tasks.items[index];
	if (task->state == TASK_RUNNING && cpu_at(states, task->cpu)->task == index) {
		lose_cpu(states, cpu_at(states, task->cpu));
		states->gaps++;
	}
	states->tasks.items[index].state = TASK_ENDED;
	add_task(states, tid, CPU_NONE);
	return true;
}

bool states_hint(struct states *states, int32_t tid, enum wait_reason reason)
{
	if (!tid_is_valid(tid) || reason >= WAIT_REASONS)
		return false;
	uint32_t index = living_task(states, tid, CPU_NONE);
	struct task *task = &states->tasks.items[index];
	task->hint = (uint8_t)reason;
	if (reason && task->state == TASK_BLOCKED)
		task->turn.reason = (uint8_t)reason;
	return true;
}

bool states_hint_once(struct states *states, int32_t tid, enum wait_reason reason)
{
	uint32_t index = tid > 0 ? states_find(states, tid, CPU_NONE) : STATES_NO_TASK;
	if (index == STATES_NO_TASK || reason >= WAIT_REASONS)
		return false;
	struct task *task = &states->tasks.items[index];
	if (task->state == TASK_BLOCKED || task->state == TASK_RUNNABLE)
		task->turn.reason = task->turn.letter == 'R' ? task->turn.reason : (uint8_t)reason;
	return true;
}

void states_lose(struct states *states, int32_t cpu)
{
	states->losses++;
	if (cpu_is_valid(cpu))
		cpu_at(states, cpu);
	for (size_t i = 0; i < states->cpus.count; i++) {
		if (cpu_is_valid(cpu) && i != (size_t)cpu)
			continue;
		lose_cpu(states, &states->cpus.items[i]);
		states->cpus.items[i].lost = true;
	}
}

void states_finish(struct states *states)
{
	for (size_t i = 0; i < states->cpus.count; i++) {
		struct cpu_state *cpu = &states->cpus.items[i];
		end_left(states, cpu, cpu->task == STATES_NO_TASK ? NULL : &states->tasks.items[cpu->task]);
	}
}
