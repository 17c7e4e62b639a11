#include "bpf/trace_order.h"

#include "unit.h"

struct passed {
	uint64_t list[4096];
	size_t count, wrong_sizes, wrong_bytes;
};

/* A record is its number, followed by as many bytes as the number modulo 13 states. */
static void pass(void *context, const void *record, size_t size)
{
	struct passed *passed = context;
	uint64_t number;
	memcpy(&number, record, sizeof number);
	passed->wrong_sizes += size != sizeof number + number % 13;
	for (size_t i = sizeof number; i < size; i++)
		passed->wrong_bytes += ((const uint8_t *)record)[i] != (uint8_t)number;
	passed->list[passed->count++] = number;
}

static void add(struct trace_order *order, uint64_t time, uint64_t number)
{
	uint8_t bytes[24];
	memcpy(bytes, &number, sizeof number);
	memset(bytes + sizeof number, (int)(number & 0xff), 13);
	trace_order_add(order, time, bytes, (uint32_t)(sizeof number + number % 13));
}

TEST("records leave in order of time, those of one time as they came, and only up to the time that is asked for")
{
	struct trace_order order = { 0 };
	struct passed passed = { 0 };
	static const uint64_t times[] = { 50, 10, 40, 10, 30, 41, 10 };
	for (uint64_t i = 0; i < sizeof times / sizeof *times; i++)
		add(&order, times[i], i);
	trace_order_pass(&order, 9, pass, &passed);
	EXPECT_INT(passed.count, 0);
	trace_order_pass(&order, 40, pass, &passed);
	static const uint64_t first[] = { 1, 3, 6, 4, 2 };
	EXPECT_INT(passed.count, 5);
	EXPECT(memcmp(passed.list, first, sizeof first) == 0);
	add(&order, 20, 7);
	trace_order_pass(&order, UINT64_MAX, pass, &passed);
	static const uint64_t rest[] = { 7, 5, 0 };
	EXPECT_INT(passed.count, 8);
	EXPECT(memcmp(passed.list + 5, rest, sizeof rest) == 0);
	EXPECT_INT(passed.wrong_sizes + passed.wrong_bytes, 0);
	trace_order_fini(&order);
}

TEST("records that wait for long keep their bytes while others pass, and take no more memory than they need")
{
	struct trace_order order = { 0 };
	struct passed passed = { 0 };
	for (uint64_t i = 0; i < 3; i++)
		add(&order, 1000000 + i, 5000 + i);
	for (uint64_t i = 0; i < 4000; i++) {
		add(&order, 2 * (i ^ 1), i); /* each pair in the wrong order */
		if (i % 10 == 9)
			trace_order_pass(&order, 2 * i - 8, pass, &passed);
	}
	EXPECT(order.bytes.count < 2048);
	trace_order_pass(&order, UINT64_MAX, pass, &passed);
	EXPECT_INT(passed.count, 4003);
	for (uint64_t i = 0; i < 4000; i++)
		EXPECT_INT(passed.list[i], i ^ 1);
	EXPECT_INT(passed.list[4002], 5002);
	EXPECT_INT(passed.wrong_sizes + passed.wrong_bytes, 0);
	trace_order_fini(&order);
}
