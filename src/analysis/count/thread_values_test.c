#include "analysis/count/thread_values.h"

#include "unit.h"

static void add(struct thread_values *values, uint32_t event, int32_t tid, uint64_t count)
{
	static const struct evsel evsel;
	uint8_t body[16];
	int32_t pid = 7;
	memcpy(body, &pid, 4);
	memcpy(body + 4, &tid, 4);
	memcpy(body + 8, &count, 8);
	const struct record record = { .body = body, .body_len = sizeof body };
	const struct resolved r = { .record = &record, .evsel = &evsel, .event = event };
	thread_values_add(values, &r);
}

TEST("values of a thread are added by event, and events that come later begin at nothing")
{
	enum { EVENTS = 40 };
	struct thread_values values = { 0 };
	for (uint32_t event = 0; event < EVENTS; event++) {
		add(&values, 100 + event, 7, event + 1);
		add(&values, 100 + event, 7, 1000);
		if (event % 8 == 0)
			add(&values, 100 + event, 8, 5);
	}
	EXPECT_INT(values.events.count, EVENTS);
	EXPECT_INT(values.threads.count, 2);
	for (uint32_t event = 0; event < EVENTS; event++) {
		EXPECT_INT(values.events.items[event], 100 + event);
		EXPECT_INT(values.threads.items[0].counts[event], 1001 + event);
		EXPECT_INT(values.threads.items[1].counts[event], event % 8 == 0 ? 5 : 0);
	}
	EXPECT(values.threads.items[0].pid == 7 && values.threads.items[0].tid == 7 && values.threads.items[1].tid == 8);
	thread_values_fini(&values);
}

TEST("a record without an event, or too short, has no value")
{
	struct thread_values values = { 0 };
	static const struct evsel evsel;
	const uint8_t body[16] = { 1 };
	struct record record = { .body = body, .body_len = sizeof body };
	thread_values_add(&values, &(struct resolved){ .record = &record });
	record.body_len = 15;
	thread_values_add(&values, &(struct resolved){ .record = &record, .evsel = &evsel });
	EXPECT(values.threads.count == 0 && values.events.count == 0);
	thread_values_fini(&values);
}
