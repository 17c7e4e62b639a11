#include "analysis/sched/states.h"

#include "unit.h"

/* The turns of a test, "tid:cpu wait/delay/run reason waker; " each; '?' for what is unknown, '*': inferred. */
struct turns {
	struct states states;
	char text[1024];
	unsigned begun;
};

static void add_part(struct turns *turns, bool known, uint64_t ns, char after)
{
	char *end = turns->text + strlen(turns->text);
	size_t room = sizeof turns->text - (size_t)(end - turns->text);
	if (known)
		snprintf(end, room, "%llu%c", (unsigned long long)ns, after);
	else
		snprintf(end, room, "?%c", after);
}

static void take_turn(void *context, uint32_t task, const struct turn *turn)
{
	struct turns *turns = context;
	uint64_t ns;
	char *end = turns->text + strlen(turns->text);
	snprintf(end, sizeof turns->text - (size_t)(end - turns->text), "%d:%d ", turns->states.tasks.items[task].tid, turn->cpu);
	bool known = turn_wait(turn, &ns);
	add_part(turns, known, ns, '/');
	known = turn_delay(turn, &ns);
	add_part(turns, known, ns, '/');
	known = turn_run(turn, &ns);
	add_part(turns, known, ns, ' ');
	end = turns->text + strlen(turns->text);
	snprintf(end, sizeof turns->text - (size_t)(end - turns->text), "%s %d%s%s; ", wait_reason_name(turn->reason), turn->waker,
		turn->by_interrupt ? "i" : "", turn->inferred ? "*" : "");
}

static void count_turn(void *context, uint32_t task, const struct turn *turn)
{
	struct turns *turns = context;
	turns->begun++;
}

static struct turns *turns_new(void)
{
	static struct turns turns;
	turns.text[0] = '\0';
	turns.begun = 0;
	states_init(&turns.states, &(struct states_sink){ .context = &turns, .turn_begins = count_turn, .turn_ends = take_turn });
	return &turns;
}

static void put_switch(struct turns *turns, uint64_t time, int32_t cpu, int32_t previous, char letter, int32_t next)
{
	EXPECT(states_switch(&turns->states, &(struct task_switch){ .time = time, .cpu = cpu, .previous = previous, .next = next,
		.letter = letter, .previous_priority = 120, .next_priority = 120 }));
}

#define EXPECT_TURNS(turns, want)                                                                                       \
	do {                                                                                                            \
		EXPECT_STR((turns)->text, want);                                                                        \
		states_fini(&(turns)->states);                                                                          \
	} while (0)

TEST("a blocked task waits until its wake-up, then for a CPU, then it runs")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'S', 0);
	EXPECT(states_wake(&turns->states, 130, 7, 9, false));
	EXPECT_INT(turns->states.tasks.items[states_find(&turns->states, 7, 0)].state, TASK_RUNNABLE);
	EXPECT(states_wake(&turns->states, 135, 7, 8, true)); /* only the first counts */
	put_switch(turns, 150, 0, 0, 'R', 7);
	put_switch(turns, 175, 0, 7, 'D', 0);
	EXPECT_INT(turns->begun, 3);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 0:0 0/0/50  -1; 7:0 50/20/25 sleep 9; ");
}

TEST("a preempted task waits for a CPU from the switch on")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'R', 8);
	put_switch(turns, 160, 0, 8, 'S', 7);
	put_switch(turns, 163, 0, 7, 'S', 0);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 8:0 0/0/60  -1; 7:0 60/60/3 preempted -1; ");
}

TEST("each CPU has a separate idle task")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'S', 0);
	put_switch(turns, 110, 1, 8, 'S', 0);
	put_switch(turns, 150, 1, 0, 'R', 7);
	put_switch(turns, 170, 0, 0, 'R', 8);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 8:1 0/0/0  -1; 0:1 0/0/40  -1; 0:0 0/0/70  -1; ");
}

TEST("an interrupt that wakes a task is recorded with the task it interrupted")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'S', 8);
	EXPECT(states_wake(&turns->states, 130, 7, 8, true));
	put_switch(turns, 150, 0, 8, 'R', 7);
	put_switch(turns, 151, 0, 7, 'S', 8);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 8:0 0/0/50  -1; 7:0 50/20/1 sleep 8i; ");
}

TEST("a hint refines why a task is blocked, not why it was preempted")
{
	struct turns *turns = turns_new();
	EXPECT(states_hint(&turns->states, 7, WAIT_FUTEX));
	put_switch(turns, 100, 0, 7, 'R', 0);
	put_switch(turns, 110, 0, 0, 'R', 7);
	put_switch(turns, 120, 0, 7, 'S', 0);
	put_switch(turns, 130, 0, 0, 'R', 7);
	EXPECT(states_hint(&turns->states, 7, WAIT_UNKNOWN));
	put_switch(turns, 140, 0, 7, 'S', 0);
	EXPECT(states_hint(&turns->states, 7, WAIT_IO)); /* while it is blocked */
	put_switch(turns, 150, 0, 0, 'R', 7);
	put_switch(turns, 160, 0, 7, 'S', 0);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 0:0 0/0/10  -1; 7:0 10/10/10 preempted -1; 0:0 10/10/10 preempted -1; "
		"7:0 10/0/10 futex -1; 0:0 10/10/10 preempted -1; 7:0 10/0/10 io -1; ");
}

TEST("after lost events the task on that CPU and every wait are unknown, but not a run on another CPU")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 0, 'R', 7);
	put_switch(turns, 100, 1, 0, 'R', 8);
	put_switch(turns, 110, 2, 9, 'S', 0);
	states_lose(&turns->states, 0);
	EXPECT_INT(turns->states.tasks.items[states_find(&turns->states, 7, 0)].state, TASK_UNKNOWN);
	put_switch(turns, 150, 0, 7, 'S', 0);
	put_switch(turns, 160, 1, 8, 'S', 0);
	put_switch(turns, 170, 2, 0, 'R', 9);
	put_switch(turns, 175, 2, 9, 'S', 0);
	put_switch(turns, 180, 0, 0, 'R', 7);
	put_switch(turns, 185, 0, 7, 'S', 0);
	EXPECT_INT(turns->states.gaps, 0);
	EXPECT_TURNS(turns, "0:0 0/0/0  -1; 0:1 0/0/0  -1; 9:2 0/0/0  -1; 7:0 0/0/0  -1*; 7:0 ?/?/?  -1; 8:1 0/0/60  -1; "
		"0:2 0/0/60  -1; 9:2 ?/?/5  -1; 0:0 ?/?/30 preempted -1; 7:0 30/0/5 sleep -1; ");
}

TEST("events that were lost before the first switch of a CPU leave that run unknown")
{
	struct turns *turns = turns_new();
	states_lose(&turns->states, 3);
	put_switch(turns, 100, 3, 7, 'S', 0);
	EXPECT_TURNS(turns, "7:3 ?/?/?  -1; ");
}

TEST("a switch from a task that did not run there is a gap, in which both tasks are unknown")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'S', 0);
	put_switch(turns, 200, 0, 7, 'S', 0);
	put_switch(turns, 230, 0, 0, 'R', 7);
	EXPECT_INT(turns->states.gaps, 1);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 0:0 0/0/0  -1*; 7:0 ?/?/? sleep -1; 0:0 ?/?/30  -1; ");
}

TEST("a task that appears on a second CPU has left the first one without an event")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 0, 'R', 7);
	put_switch(turns, 200, 1, 0, 'R', 7);
	EXPECT_INT(turns->states.gaps, 1);
	EXPECT_INT(turns->states.cpus.items[0].task, STATES_NO_TASK);
	put_switch(turns, 230, 1, 7, 'S', 0);
	put_switch(turns, 240, 0, 8, 'S', 0);
	EXPECT_TURNS(turns, "0:0 0/0/0  -1; 0:1 0/0/0  -1; 7:1 ?/?/30  -1; 7:0 0/0/0  -1*; 8:0 ?/?/?  -1; ");
}

TEST("the time that a task has run without a switch to it gives the start of its turn and the end of the one before")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'S', 0);
	EXPECT(states_wake(&turns->states, 120, 7, 9, false));
	EXPECT(states_see(&turns->states, 110, 0, 7, 0)); /* the end of its switch */
	EXPECT_INT(turns->states.gaps, 0);
	EXPECT(states_see(&turns->states, 190, 0, 7, 71)); /* since 119: the clocks differ */
	EXPECT(states_see(&turns->states, 200, 0, 7, 10));
	put_switch(turns, 205, 0, 7, 'S', 0);
	put_switch(turns, 225, 0, 0, 'R', 7);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 0:0 0/0/20  -1*; 7:0 20/0/85 sleep 9; 0:0 85/85/20 preempted -1; ");
}

TEST("a task that is seen on a CPU runs there from then on at the latest")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'S', 0);
	EXPECT(states_see(&turns->states, 110, 0, 0, 0));
	EXPECT(states_see(&turns->states, 180, 0, 8, 90)); /* since 90: it was elsewhere */
	const struct task *task = &turns->states.tasks.items[states_find(&turns->states, 8, 0)];
	EXPECT_INT(task->state, TASK_RUNNING);
	EXPECT_INT(task->turn.in, 110);
	EXPECT(task->turn.run_lost);
	put_switch(turns, 205, 0, 8, 'S', 0);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 0:0 0/0/10  -1*; 8:0 ?/?/?  -1; ");
}

TEST("after lost events the first event that shows a task begins a run that is known in part")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'S', 8);
	states_lose(&turns->states, 0);
	EXPECT(states_see(&turns->states, 300, 0, 8, 0));
	put_switch(turns, 350, 0, 8, 'S', 0);
	EXPECT_INT(turns->states.gaps, 0);
	EXPECT_INT(turns->states.tasks.items[states_find(&turns->states, 8, 0)].state, TASK_BLOCKED);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 8:0 0/0/0  -1*; 8:0 ?/?/?  -1; ");
}

TEST("a thread id that is used again is another task, with or without a record of its fork")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'Z', 0);
	uint32_t first = states_find(&turns->states, 7, 0);
	EXPECT_INT(turns->states.tasks.items[first].state, TASK_ENDED);
	EXPECT(states_wake(&turns->states, 150, 7, 1, false));
	uint32_t second = states_find(&turns->states, 7, 0);
	EXPECT(second != first);
	put_switch(turns, 160, 0, 0, 'R', 7);
	put_switch(turns, 170, 0, 7, 'S', 0);
	EXPECT(states_fork(&turns->states, 7));
	EXPECT(states_find(&turns->states, 7, 0) != second);
	put_switch(turns, 190, 0, 0, 'R', 7);
	put_switch(turns, 191, 0, 7, 'X', 0);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 0:0 0/0/60  -1; 7:0 0/10/10  1; 0:0 10/10/20 preempted -1; 7:0 0/0/1  -1; ");
}

TEST("times that go back give no part of a turn a length, and are counted")
{
	struct turns *turns = turns_new();
	put_switch(turns, 100, 0, 7, 'S', 8);
	put_switch(turns, 90, 0, 8, 'S', 7);
	EXPECT_INT(turns->states.backwards, 1);
	EXPECT_TURNS(turns, "7:0 0/0/0  -1; 8:0 0/0/0  -1; ");
}

TEST("CPUs and thread ids out of range are refused")
{
	struct turns *turns = turns_new();
	EXPECT(!states_switch(&turns->states, &(struct task_switch){ .cpu = STATES_CPUS_MAX, .previous = 1, .next = 2 }));
	EXPECT(!states_switch(&turns->states, &(struct task_switch){ .cpu = -1, .previous = 1, .next = 2 }));
	EXPECT(!states_switch(&turns->states, &(struct task_switch){ .cpu = 0, .previous = -1, .next = 2 }));
	EXPECT(!states_switch(&turns->states, &(struct task_switch){ .cpu = 0, .previous = 1, .next = STATES_TIDS_MAX }));
	EXPECT(!states_wake(&turns->states, 1, 0, 1, false));
	EXPECT_INT(states_task(&turns->states, STATES_TIDS_MAX, 0), STATES_NO_TASK);
	EXPECT_INT(states_task(&turns->states, STATES_TIDS_MAX - 1, 0), 0);
	EXPECT(!states_hint(&turns->states, 7, WAIT_REASONS));
	EXPECT(states_switch(&turns->states, &(struct task_switch){ .cpu = STATES_CPUS_MAX - 1, .previous = 1, .next = 2 }));
	EXPECT_TURNS(turns, "1:4095 0/0/0  -1; ");
}
