#include "session/trace_internal.h"
#include "unit.h"

enum { SWITCH_TO = 0x1000, SCHED_OUT = 0x2000 };

static struct trace trace;
static struct trace_queue queue;

static void begin(enum trace_switch state)
{
	vec_fini(&trace.queues);
	vec_fini(&trace.running);
	vec_fini(&trace.heap.items);
	trace = (struct trace){ .switch_ip = SWITCH_TO, .out_ip = SCHED_OUT };
	queue = (struct trace_queue){ .trace = &trace, .cpu = 1, .switches = true, .switching = state, .next = { -1, -1 } };
	vec_push(&trace.queues, &queue);
	trace_set_running(&trace, 1, (struct running){ 5, 6 });
}

static bool branch(uint64_t to, uint32_t flags)
{
	queue.event = (struct pt_event){ .from = 0x10, .to = to };
	return trace_switch_branch(&queue, flags);
}

TEST("a record before the instruction: the thread changes at the instruction")
{
	begin(SWITCH_RUNS);
	trace_switch_out(&trace, 1, (struct running){ 7, 8 }, 100);
	EXPECT_INT(trace.running.items[1].tid, 6);
	EXPECT(!branch(SWITCH_TO + 1, TRACE_CALL));
	EXPECT(!branch(SWITCH_TO, TRACE_BRANCH | TRACE_CONDITIONAL)); /* a loop to its beginning */
	EXPECT_INT(trace.running.items[1].tid, 6);
	EXPECT(!branch(SWITCH_TO, TRACE_CALL));
	EXPECT_INT(trace.running.items[1].tid, 8);
	EXPECT_INT(trace.running.items[1].pid, 7);
	EXPECT_INT(queue.switching, SWITCH_RUNS);
}

TEST("an instruction before the record: the queue waits until the time of the record")
{
	begin(SWITCH_RUNS);
	EXPECT(branch(SWITCH_TO, TRACE_CALL));
	queue.waits = true;
	trace_switch_out(&trace, 0, (struct running){ 1, 2 }, 90); /* another CPU */
	EXPECT(queue.waits);
	trace_switch_out(&trace, 1, (struct running){ 7, 8 }, 100);
	EXPECT(!queue.waits);
	EXPECT_INT(queue.ticks, 100);
	EXPECT_INT(trace_heap_take(&trace.heap) == &queue, 1);
	EXPECT_INT(trace.running.items[1].tid, 8);
}

TEST("behind a gap of the trace, the record counts until the kernel's function for it is seen")
{
	begin(SWITCH_RUNS);
	EXPECT(!branch(0, TRACE_END));
	trace_switch_out(&trace, 1, (struct running){ 7, 8 }, 100);
	EXPECT_INT(trace.running.items[1].tid, 8);
	EXPECT(!branch(0x30, TRACE_BEGIN));
	EXPECT_INT(queue.switching, SWITCH_UNKNOWN);
	EXPECT(trace_switch_is_blind(&queue, 0) == false);
	EXPECT(!branch(SCHED_OUT, TRACE_BRANCH));
	EXPECT_INT(queue.switching, SWITCH_UNKNOWN);
	EXPECT(!branch(SCHED_OUT, TRACE_CALL));
	EXPECT_INT(queue.switching, SWITCH_RUNS);
}

TEST("a record of the thread that came in ends both kinds of waiting, and an error ends the following")
{
	begin(SWITCH_RUNS);
	trace_switch_out(&trace, 1, (struct running){ 7, 8 }, 100);
	trace_switch_in(&trace, 1, (struct running){ 9, 9 });
	EXPECT_INT(queue.switching, SWITCH_RUNS);
	EXPECT_INT(trace.running.items[1].tid, 9);
	trace_switch_out(&trace, 1, (struct running){ 7, 8 }, 100);
	trace_switch_lost(&queue);
	EXPECT(!queue.switches);
	EXPECT_INT(trace.running.items[1].tid, 8);
}
