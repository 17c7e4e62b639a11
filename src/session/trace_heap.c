#include "session/trace_internal.h"

/* Moves the hole at a position up to where the queue belongs. */
static void settle(struct trace_queue **items, size_t hole, struct trace_queue *queue)
{
	for (size_t parent; hole && items[parent = (hole - 1) / 2]->ticks > queue->ticks; hole = parent)
		items[hole] = items[parent];
	items[hole] = queue;
}

void trace_heap_add(struct trace_heap *heap, struct trace_queue *queue)
{
	vec_push(&heap->items, queue);
	settle(heap->items.items, heap->items.count - 1, queue);
}

struct trace_queue *trace_heap_take(struct trace_heap *heap)
{
	size_t count = heap->items.count;
	if (!count)
		return NULL;
	struct trace_queue **items = heap->items.items, *first = items[0], *last = items[count - 1];
	size_t hole = 0;
	heap->items.count--;
	/* of two equal children the second one moves up, and the last queue is compared as a child before it fills the hole: as in perf */
	for (size_t left; (left = 2 * hole + 1) < count;) {
		size_t child = left + 1 < count && items[left]->ticks >= items[left + 1]->ticks ? left + 1 : left;
		items[hole] = items[child];
		hole = child;
		if (left + 1 >= count)
			return first;
	}
	settle(items, hole, last);
	return first;
}
