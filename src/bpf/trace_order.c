#include "bpf/trace_order.h"

#include <stdlib.h>

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

void trace_order_fini(struct trace_order *order)
{
	vec_fini(&order->bytes);
	vec_fini(&order->list);
	order->waiting_bytes = 0;
}

void trace_order_add(struct trace_order *order, uint64_t time, const void *record, uint32_t size)
{
	size_t at = order->bytes.count, place = order->list.count;
	vec_reserve(&order->bytes, at + padded(size));
	memcpy(order->bytes.items + at, record, size);
	order->bytes.count += padded(size);
	order->waiting_bytes += padded(size);
	vec_push(&order->list, ((struct waiting_record){ .time = time, .at = at, .size = size }));
	struct waiting_record *list = order->list.items, added = list[place];
	for (; place && list[place - 1].time > time; place--)
		list[place] = list[place - 1];
	list[place] = added;
}

/* Moves the records that wait to the front of a new buffer. */
static void compact(struct trace_order *order)
{
	uint8_t *bytes = memory_alloc(order->waiting_bytes ? order->waiting_bytes : 1);
	size_t at = 0;
	for (size_t i = 0; i < order->list.count; i++) {
		struct waiting_record *waiting = &order->list.items[i];
		memcpy(bytes + at, order->bytes.items + waiting->at, waiting->size);
		waiting->at = at;
		at += padded(waiting->size);
	}
	free(order->bytes.items);
	order->bytes.items = bytes;
	order->bytes.count = at;
	order->bytes.capacity = order->waiting_bytes ? order->waiting_bytes : 1;
}

void trace_order_pass(struct trace_order *order, uint64_t until, trace_record_visitor *record, void *context)
{
	size_t count = 0;
	for (; count < order->list.count && order->list.items[count].time <= until; count++) {
		const struct waiting_record *waiting = &order->list.items[count];
		record(context, order->bytes.items + waiting->at, waiting->size);
		order->waiting_bytes -= padded(waiting->size);
	}
	if (!count)
		return;
	order->list.count -= count;
	memmove(order->list.items, order->list.items + count, order->list.count * sizeof *order->list.items);
	if (!order->list.count)
		vec_clear(&order->bytes);
	else if (order->waiting_bytes < order->bytes.count / 2)
		compact(order);
}
