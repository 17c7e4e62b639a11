#include "record/acquire/ring_order.h"

#include <stdlib.h>
#include <string.h>

#include "record/acquire/records.h"

void ring_order_fini(struct ring_order *order)
{
	vec_fini(&order->items);
	vec_fini(&order->places);
	arena_fini(&order->copies);
	*order = (struct ring_order){ 0 };
}

/* The bytes of the record at this distance from the ring's tail; of one that wraps, a copy. */
static const uint8_t *record_bytes(struct ring_order *order, const struct span pieces[2], size_t at, size_t size)
{
	if (at >= pieces[0].len)
		return pieces[1].data + (at - pieces[0].len);
	if (size <= pieces[0].len - at)
		return pieces[0].data + at;
	size_t first = pieces[0].len - at;
	uint8_t *copy = arena_alloc(&order->copies, size);
	memcpy(copy, pieces[0].data + at, first);
	memcpy(copy + first, pieces[1].data, size - first);
	return copy;
}

/* Adds the next record, at a distance from the tail; NULL: it is invalid. The item's time is not set. */
static struct ring_item *add_item(struct ring_order *order, const struct span pieces[2], size_t at, size_t len, uint32_t ring,
	struct error *err)
{
	/* a header never wraps: records are multiples of 8 */
	uint16_t size = record_size_at(at < pieces[0].len ? pieces[0].data + at : pieces[1].data + (at - pieces[0].len));
	if (size < RECORD_HEADER_SIZE || size % 8 || size > len - at) {
		error_set(err, ERROR_FORMAT, "a ring holds a record of %u bytes", size);
		return NULL;
	}
	struct ring_item *item = vec_add(&order->items);
	item->bytes = record_bytes(order, pieces, at, size);
	item->size = size;
	item->ring = ring;
	return item;
}

static uint64_t item_time(const struct evlist *evlist, const struct ring_item *item)
{
	const struct record record = record_of(item->bytes, item->size);
	return evlist_time_of(evlist, &record);
}

/* Lists the next records of the ring, up to the first one that is newer than `limit`. */
static int list_ring(struct ring_order *order, const struct ring *ring, uint32_t index, const struct evlist *evlist, uint64_t limit,
	struct error *err)
{
	struct ring_place *place = &order->places.items[index];
	struct span pieces[2];
	size_t pending = ring_pending(ring, pieces);
	while (place->found < pending && !place->ended) {
		struct ring_item *item = add_item(order, pieces, place->found, pending, index, err);
		if (!item)
			return -1;
		uint64_t time = item_time(evlist, item);
		item->time = time == UINT64_MAX || time < place->time ? place->time : time;
		item->place = (uint32_t)order->items.count;
		if (item->time > limit) {
			place->ended = true;
			order->items.count--;
			break;
		}
		place->time = item->time;
		place->found += item->size;
		order->newest = item->time > order->newest ? item->time : order->newest;
	}
	return 0;
}

static int compare_items(const void *a, const void *b)
{
	const struct ring_item *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void sort(struct ring_order *order)
{
	size_t sorted = 1;
	while (sorted < order->items.count && order->items.items[sorted - 1].time <= order->items.items[sorted].time)
		sorted++;
	if (sorted < order->items.count)
		qsort(order->items.items, order->items.count, sizeof *order->items.items, compare_items);
}

static void begin(struct ring_order *order, size_t count)
{
	vec_clear(&order->items);
	arena_fini(&order->copies);
	while (order->places.count < count)
		(void)vec_add(&order->places);
	for (size_t i = 0; i < count; i++) {
		order->places.items[i].found = 0;
		order->places.items[i].ended = false;
	}
	order->newest = 0;
}

/* The ring has its newest record first. */
static int list_overwritten(struct ring_order *order, struct ring *ring, uint32_t index, const struct evlist *evlist, struct error *err)
{
	struct span pieces[2];
	size_t whole = ring_snapshot(ring, pieces);
	uint64_t newer = UINT64_MAX;
	for (size_t at = 0; at < whole;) {
		struct ring_item *item = add_item(order, pieces, at, whole, index, err);
		if (!item)
			return -1;
		uint64_t time = item_time(evlist, item);
		item->time = newer = time < newer ? time : newer;
		item->place = UINT32_MAX - (uint32_t)order->items.count;
		at += item->size;
	}
	return 0;
}

int ring_order_snapshot(struct ring_order *order, struct ring *rings, size_t count, const struct evlist *evlist, struct error *err)
{
	begin(order, count);
	for (uint32_t i = 0; i < count; i++)
		if (rings[i].backward && list_overwritten(order, &rings[i], i, evlist, err) < 0)
			return -1;
	sort(order);
	return 0;
}

int ring_order_fill(struct ring_order *order, const struct ring *rings, size_t count, const struct evlist *evlist, bool final,
	struct error *err)
{
	begin(order, count);
	for (uint32_t i = 0; i < count; i++)
		if (!rings[i].backward && list_ring(order, &rings[i], i, evlist, UINT64_MAX, err) < 0)
			return -1;
	uint64_t newest = order->newest;
	for (uint32_t i = 0; i < count && !final && order->items.count; i++)
		if (!rings[i].backward && list_ring(order, &rings[i], i, evlist, newest, err) < 0)
			return -1;
	sort(order);
	return 0;
}
