#include "record/count/latencies.h"

#include <string.h>

#include "unit.h"

enum { EVENTS = 2, SAMPLE_BYTES = 24 };

/* Two sampled events with the ids 10 and 11, behind an event that is counted. */
static void make(struct latencies *l)
{
	*l = (struct latencies){ 0 };
	vec_push(&l->index, UINT32_MAX);
	for (uint32_t i = 0; i < EVENTS; i++) {
		const struct attr attr = { .sample_type = SAMPLE_IDENTIFIER | SAMPLE_WEIGHT_STRUCT, .sample_period = 1 };
		const uint64_t id = 10 + i;
		evlist_add(&l->evlist, &attr, &id, 1, "event");
		vec_push(&l->index, i);
		vec_push(&l->sums, (struct latency_sum){ 0 });
	}
}

static void add(struct latencies *l, uint64_t id, uint16_t latency)
{
	uint8_t body[SAMPLE_BYTES - 8];
	/* weight, latency of the instruction, retire latency */
	const uint64_t weight = 1234 | (uint64_t)99 << 32 | (uint64_t)latency << 48;
	memcpy(body, &id, sizeof id);
	memcpy(body + 8, &weight, sizeof weight);
	const struct record record = { .type = RECORD_SAMPLE, .body = body, .body_len = sizeof body };
	latencies_add(l, &record);
}

TEST("the count of an event with the modifier R is the mean of the third part of its samples' weights")
{
	struct latencies l;
	make(&l);
	EXPECT_INT(latencies_value(&l, 1, LATENCY_MEAN), 0);
	add(&l, 10, 7);
	add(&l, 11, 65535);
	add(&l, 10, 8);
	add(&l, 10, 11);
	EXPECT_INT(latencies_samples(&l), 4);
	EXPECT_INT(latencies_value(&l, 1, LATENCY_MEAN), 9); /* 26 / 3 */
	EXPECT_INT(latencies_value(&l, 2, LATENCY_MEAN), 65535);
	EXPECT_INT(latencies_value(&l, 0, LATENCY_MEAN), 0); /* counted */
	EXPECT_INT(latencies_value(&l, 3, LATENCY_MEAN), 0); /* the event has no sample */
	latencies_close(&l);
}

TEST("a mean half way between two numbers is the even one, as perf rounds it")
{
	struct latencies l;
	make(&l);
	add(&l, 10, 1);
	add(&l, 10, 2);
	EXPECT_INT(latencies_value(&l, 1, LATENCY_MEAN), 2);
	add(&l, 11, 2);
	add(&l, 11, 3);
	EXPECT_INT(latencies_value(&l, 2, LATENCY_MEAN), 2);
	latencies_close(&l);
}

TEST("of the latencies of an event the least, the largest and the last are values, too")
{
	struct latencies l;
	make(&l);
	EXPECT_INT(latencies_value(&l, 1, LATENCY_MIN), 0);
	for (size_t i = 0; i < 4; i++)
		add(&l, 10, (const uint16_t[]){ 8, 3, 65535, 5 }[i]);
	EXPECT_INT(latencies_value(&l, 1, LATENCY_MIN), 3);
	EXPECT_INT(latencies_value(&l, 1, LATENCY_MAX), 65535);
	EXPECT_INT(latencies_value(&l, 1, LATENCY_LAST), 5);
	EXPECT_INT(latencies_value(&l, 2, LATENCY_MAX), 0);
	latencies_close(&l);
}

TEST("other records, and samples that are cut or of unknown events, have no latency")
{
	struct latencies l;
	make(&l);
	const uint8_t body[SAMPLE_BYTES] = { 10 };
	const struct record cut = { .type = RECORD_SAMPLE, .body = body, .body_len = 8 };
	const struct record other = { .type = RECORD_LOST, .body = body, .body_len = sizeof body };
	latencies_add(&l, &cut);
	latencies_add(&l, &other);
	add(&l, 12, 5);
	add(&l, 10, 6);
	EXPECT_INT(l.sums.items[0].samples, 1);
	EXPECT_INT(latencies_value(&l, 1, LATENCY_MEAN), 6);
	latencies_close(&l);
}
