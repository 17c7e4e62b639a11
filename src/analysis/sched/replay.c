#include "analysis/sched/replay.h"

#include <stdlib.h>

static struct replay_step *add_step(struct replay_task *task, enum replay_kind kind)
{
	struct replay_step *step = vec_add(&task->steps);
	*step = (struct replay_step){ .kind = kind, .signal = REPLAY_NO_SIGNAL };
	return step;
}

/* The index of a task; a new one sleeps first. STATES_NO_TASK: the thread id is out of range. */
static uint32_t find_task(struct replay *replay, int32_t tid, const char *name)
{
	bool added;
	if (tid < 0 || tid >= STATES_TIDS_MAX)
		return STATES_NO_TASK;
	uint32_t index = idmap_add(&replay->by_tid, (uint64_t)tid, (uint32_t)replay->tasks.count, &added);
	if (!added)
		return index;
	struct replay_task *task = vec_add(&replay->tasks);
	task->tid = tid;
	text_copy(task->name, sizeof task->name, name, strlen(name));
	add_step(task, REPLAY_SLEEP);
	replay->sleeps++;
	return index;
}

static void add_wake(struct replay *replay, uint32_t waker, uint32_t woken)
{
	struct replay_step *wake = add_step(&replay->tasks.items[waker], REPLAY_WAKE);
	struct replay_task *task = &replay->tasks.items[woken];
	struct replay_step *last = &task->steps.items[task->steps.count - 1];
	if (last->kind != REPLAY_SLEEP) {
		replay->targetless++;
	} else if (last->signal != REPLAY_NO_SIGNAL) {
		replay->repeated++;
	} else {
		wake->signal = last->signal = replay->signals++;
		replay->wakes++;
	}
}

static void take_wake(struct replay *replay, const struct sched_event *event)
{
	uint32_t waker = find_task(replay, event->tid, "<unknown>");
	uint32_t woken = find_task(replay, event->subject, sched_event_comm(&replay->reader, event, SCHED_SUBJECT_COMM));
	if (waker != STATES_NO_TASK && woken != STATES_NO_TASK)
		add_wake(replay, waker, woken);
}

static void take_switch(struct replay *replay, const struct sched_event *event)
{
	while (replay->last.count <= (size_t)event->cpu)
		vec_push(&replay->last, 0);
	uint64_t last = replay->last.items[event->cpu];
	if (event->time < last) {
		replay->backwards++;
		return;
	}
	uint32_t previous = find_task(replay, event->change.previous, sched_event_comm(&replay->reader, event, SCHED_PREVIOUS_COMM));
	uint32_t next = find_task(replay, event->change.next, sched_event_comm(&replay->reader, event, SCHED_NEXT_COMM));
	if (previous == STATES_NO_TASK || next == STATES_NO_TASK)
		return;
	struct replay_task *task = &replay->tasks.items[previous];
	struct replay_step *step = &task->steps.items[task->steps.count - 1];
	replay->last.items[event->cpu] = event->time;
	if (step->kind == REPLAY_RUN) {
		replay->joined++;
	} else {
		step = add_step(task, REPLAY_RUN);
		replay->runs++;
	}
	step->run_ns += last ? event->time - last : 0;
	add_step(task, REPLAY_SLEEP);
	replay->sleeps++;
}

/* The child has its parent's name when it is forked. */
static void take_fork(struct replay *replay, const struct sched_event *event)
{
	struct states *states = &replay->reader.states;
	uint32_t parent = states_task(states, event->tid, 0);
	if (parent == STATES_NO_TASK || event->subject <= 0 || event->subject >= STATES_TIDS_MAX)
		return;
	find_task(replay, event->tid, sched_task_comm(&replay->reader, parent));
	find_task(replay, event->subject, sched_task_comm(&replay->reader, states_task(states, event->subject, 0)));
}

static void on_event(void *context, const struct sched_event *event)
{
	struct replay *replay = context;
	if (event->kind == SCHED_SWITCH)
		take_switch(replay, event);
	else if (event->kind == SCHED_FORK)
		take_fork(replay, event);
	else if (event->kind == SCHED_WAKING || event->kind == SCHED_WAKEUP_NEW ||
		 (event->kind == SCHED_WAKEUP && !replay->reader.has_waking))
		take_wake(replay, event);
}

void replay_init(struct replay *replay)
{
	*replay = (struct replay){ 0 };
	const uint32_t kinds = 1u << SCHED_SWITCH | 1u << SCHED_WAKING | 1u << SCHED_WAKEUP | 1u << SCHED_WAKEUP_NEW;
	sched_reader_init(&replay->reader, &(struct sched_analysis){ .context = replay, .kinds = kinds, .event = on_event }, false);
}

void replay_fini(struct replay *replay)
{
	sched_reader_fini(&replay->reader);
	for (size_t i = 0; i < replay->tasks.count; i++)
		vec_fini(&replay->tasks.items[i].steps);
	vec_fini(&replay->tasks);
	vec_fini(&replay->last);
	idmap_fini(&replay->by_tid);
}

void replay_finish(struct replay *replay)
{
	for (uint32_t i = 0; i < replay->tasks.count; i++)
		add_wake(replay, i, (i + 1) % (uint32_t)replay->tasks.count);
}
