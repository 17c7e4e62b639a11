#include "session/trace_internal.h"
#include "unit.h"

TEST("the oldest queue is taken first; of equal ones, the order is that of perf's heap")
{
	static const uint64_t ticks[] = { 5, 3, 3, 9, 3, 1 };
	static const size_t order[] = { 5, 1, 2, 4, 0, 3 };
	struct trace_queue queues[6] = { 0 };
	struct trace_heap heap = { 0 };
	EXPECT(!trace_heap_take(&heap));
	for (size_t i = 0; i < 6; i++) {
		queues[i].ticks = ticks[i];
		trace_heap_add(&heap, &queues[i]);
	}
	for (size_t i = 0; i < 6; i++)
		EXPECT_INT(trace_heap_take(&heap) - queues, (long)order[i]);
	EXPECT(!trace_heap_take(&heap));
	vec_fini(&heap.items);
}
