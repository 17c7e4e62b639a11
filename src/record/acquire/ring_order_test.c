#include "record/acquire/ring_order.h"

#include <stdlib.h>

#include "record/acquire/records.h"
#include "unit.h"

enum { RING_BYTES = 4096, PAGE = 4096, DATA_HEAD = 1024 /* of the control page: perf_event_open(2) */ };

/* A ring without a kernel behind it. */
struct fake {
	struct ring ring;
	uint64_t head;
};

static void fake_open(struct fake *fake)
{
	*fake = (struct fake){ .ring = { .size = RING_BYTES, .cpu = -1, .fd = -1 } };
	fake->ring.base = calloc(1, RING_BYTES + PAGE);
	fake->ring.data = (uint8_t *)fake->ring.base + PAGE;
}

/* A sample of 8 + 16 + padding bytes: address, time. */
static void fake_add(struct fake *fake, uint64_t time, uint16_t size)
{
	uint8_t bytes[512] = { 0 };
	const uint32_t type = RECORD_SAMPLE;
	memcpy(bytes, &type, sizeof type);
	memcpy(bytes + 6, &size, sizeof size);
	memcpy(bytes + 16, &time, sizeof time);
	for (size_t i = 0; i < size; i++)
		fake->ring.data[(fake->head + i) % RING_BYTES] = bytes[i];
	fake->head += size;
	memcpy((uint8_t *)fake->ring.base + DATA_HEAD, &fake->head, sizeof fake->head);
}

static void evlist_of_times(struct evlist *evlist)
{
	const struct attr attr = { .sample_type = SAMPLE_IP | SAMPLE_TIME };
	evlist_add(evlist, &attr, NULL, 0, "clock");
}

TEST("records of several rings are listed by time, those of one ring in its order")
{
	struct fake a, b;
	struct evlist evlist = { 0 };
	struct ring_order order = { 0 };
	fake_open(&a);
	fake_open(&b);
	evlist_of_times(&evlist);
	fake_add(&a, 10, 24);
	fake_add(&a, 30, 24);
	fake_add(&a, 20, 24); /* written late: remains after the record before it */
	fake_add(&b, 5, 24);
	fake_add(&b, 30, 24);
	const struct ring rings[] = { a.ring, b.ring };
	EXPECT_INT(ring_order_fill(&order, rings, 2, &evlist, false, NULL), 0);
	EXPECT_INT(order.items.count, 5);
	static const uint32_t expected[] = { 1, 0, 0, 0, 1 };
	for (size_t i = 0; i < order.items.count && i < 5; i++)
		EXPECT_INT(order.items.items[i].ring, expected[i]);
	ring_order_fini(&order);
	evlist_fini(&evlist);
	free(a.ring.base);
	free(b.ring.base);
}

TEST("a record that wraps around the end of a ring is complete")
{
	struct fake a;
	struct evlist evlist = { 0 };
	struct ring_order order = { 0 };
	fake_open(&a);
	evlist_of_times(&evlist);
	for (int i = 0; i < 9; i++)
		fake_add(&a, (uint64_t)i + 1, 440);
	ring_consume(&a.ring, 9 * 440); /* 136 bytes are left before the end */
	fake_add(&a, 77, 440);
	EXPECT_INT(ring_order_fill(&order, &a.ring, 1, &evlist, true, NULL), 0);
	EXPECT_INT(order.items.count, 1);
	if (order.items.count == 1) {
		struct record record = record_of(order.items.items[0].bytes, order.items.items[0].size);
		EXPECT_INT(record.body_len, 432);
		EXPECT_INT(evlist_time_of(&evlist, &record), 77);
	}
	ring_order_fini(&order);
	evlist_fini(&evlist);
	free(a.ring.base);
}

TEST("an invalid record in a ring is an error, and nothing beyond the ring is read")
{
	struct fake a;
	struct evlist evlist = { 0 };
	struct ring_order order = { 0 };
	struct error err;
	fake_open(&a);
	evlist_of_times(&evlist);
	fake_add(&a, 1, 24);
	a.ring.data[6] = 4;
	EXPECT(ring_order_fill(&order, &a.ring, 1, &evlist, false, &err) < 0);
	a.ring.data[6] = 48; /* larger than the pending bytes */
	EXPECT(ring_order_fill(&order, &a.ring, 1, &evlist, false, &err) < 0);
	ring_order_fini(&order);
	evlist_fini(&evlist);
	free(a.ring.base);
}

static void fake_add_backward(struct fake *fake, uint64_t time, uint16_t size)
{
	fake->head -= size;
	uint64_t head = fake->head;
	fake_add(fake, time, size);
	fake->head = head;
	memcpy((uint8_t *)fake->ring.base + DATA_HEAD, &head, sizeof head);
}

TEST("an invalid record ends the list of an overwritten ring, whose oldest record is cut")
{
	struct fake a, b;
	struct evlist evlist = { 0 };
	struct ring_order order = { 0 };
	fake_open(&a);
	fake_open(&b);
	a.ring.backward = b.ring.backward = true;
	evlist_of_times(&evlist);
	fake_add_backward(&a, 1, 24);
	fake_add_backward(&b, 2, 24);
	b.ring.data[b.head % RING_BYTES + 6] = 4;
	fake_add_backward(&b, 3, 24);
	struct ring rings[] = { a.ring, b.ring };
	EXPECT_INT(ring_order_snapshot(&order, rings, 2, &evlist, NULL), 0);
	EXPECT_INT(order.items.count, 2);
	EXPECT_INT(order.items.items[0].time, 1);
	EXPECT_INT(order.items.items[1].time, 3);
	ring_order_fini(&order);
	evlist_fini(&evlist);
	free(a.ring.base);
	free(b.ring.base);
}

TEST("the records of overwritten rings are listed oldest first, and once")
{
	struct fake a, b, forward;
	struct evlist evlist = { 0 };
	struct ring_order order = { 0 };
	fake_open(&a);
	fake_open(&b);
	fake_open(&forward);
	a.ring.backward = b.ring.backward = true;
	evlist_of_times(&evlist);
	for (uint64_t time = 1; time <= 300; time++) /* fills the ring three times: the oldest are overwritten */
		fake_add_backward(&a, time * 10, 40);
	fake_add_backward(&b, 2995, 24);
	fake_add(&forward, 2996, 24);
	struct ring rings[] = { a.ring, b.ring, forward.ring };
	EXPECT_INT(ring_order_snapshot(&order, rings, 3, &evlist, NULL), 0);
	size_t count = order.items.count;
	EXPECT_INT(count, RING_BYTES / 40 + 1);
	for (size_t i = 1; i < count; i++)
		EXPECT(order.items.items[i - 1].time < order.items.items[i].time);
	EXPECT_INT(order.items.items[count - 1].time, 3000);
	EXPECT_INT(order.items.items[count - 2].ring, 1);
	EXPECT_INT(ring_order_snapshot(&order, rings, 3, &evlist, NULL), 0);
	EXPECT_INT(order.items.count, 0);
	ring_order_fini(&order);
	evlist_fini(&evlist);
	free(a.ring.base);
	free(b.ring.base);
	free(forward.ring.base);
}
