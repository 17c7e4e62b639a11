#include "data/evlist.h"

#include "unit.h"

static struct attr attr_of(uint64_t sample_type)
{
	return (struct attr){ .sample_type = sample_type, .flags = 1ull << ATTR_SAMPLE_ID_ALL };
}

static struct record record_of(const uint64_t *words, size_t count, uint32_t type)
{
	return (struct record){ .type = type, .body = (const uint8_t *)words, .body_len = (uint32_t)(count * 8) };
}

TEST("with one event every record belongs to it; without events no record has an event")
{
	struct evlist evlist = { 0 };
	uint64_t words[] = { 99 };
	struct record record = record_of(words, 1, RECORD_SAMPLE);
	EXPECT_INT(evlist_event_of(&evlist, &record), UINT32_MAX);
	struct attr attr = attr_of(SAMPLE_IDENTIFIER);
	evlist_add(&evlist, &attr, (uint64_t[]){ 1, 2 }, 2, "cycles");
	EXPECT_INT(evlist_event_of(&evlist, &record), 0);
	EXPECT_STR(evlist.events.items[0].name, "cycles");
	EXPECT_INT(evlist.events.items[0].group_members, 1);
	evlist_fini(&evlist);
}

TEST("among several events the id of a record selects its event")
{
	struct evlist evlist = { 0 };
	struct attr attr = attr_of(SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TIME);
	evlist_add(&evlist, &attr, (uint64_t[]){ 1, 2 }, 2, NULL);
	EXPECT_INT(evlist_add(&evlist, &attr, (uint64_t[]){ 3 }, 1, NULL), 1);
	evlist_add_ids(&evlist, 1, (uint64_t[]){ 4 }, 1);
	EXPECT_INT(evlist.events.items[1].id_count, 2);
	EXPECT_INT(evlist.events.items[1].ids[1], 4);
	uint64_t sample[] = { 4, 0x401000, 7 }, side[] = { 0, 0, 7, 3 }, own[] = { 0, 0, 7, 0 }, unknown[] = { 5, 1, 2 };
	struct record record = record_of(sample, 3, RECORD_SAMPLE);
	EXPECT_INT(evlist_event_of(&evlist, &record), 1);
	record = record_of(side, 4, RECORD_COMM);
	EXPECT_INT(evlist_event_of(&evlist, &record), 1);
	record = record_of(own, 4, RECORD_COMM); /* synthesized by the recorder */
	EXPECT_INT(evlist_event_of(&evlist, &record), 0);
	record = record_of(unknown, 3, RECORD_SAMPLE);
	EXPECT_INT(evlist_event_of(&evlist, &record), UINT32_MAX);
	record.body_len = 7;
	EXPECT_INT(evlist_event_of(&evlist, &record), UINT32_MAX);
	EXPECT_INT(evlist_event_of_sample(&evlist, &record), UINT32_MAX);
	sample[0] = 0;
	record = record_of(sample, 3, RECORD_SAMPLE);
	EXPECT_INT(evlist_event_of_sample(&evlist, &record), 0);
	record = record_of(side, 0, RECORD_COMM);
	EXPECT_INT(evlist_event_of(&evlist, &record), UINT32_MAX);
	evlist_fini(&evlist);
}

TEST("a record of the opposite byte order has the same event")
{
	struct evlist evlist = { 0 };
	struct attr attr = attr_of(SAMPLE_IP | SAMPLE_ID);
	evlist_add(&evlist, &attr, (uint64_t[]){ 1 }, 1, NULL);
	evlist_add(&evlist, &attr, (uint64_t[]){ 2 }, 1, NULL);
	uint64_t words[] = { 0, __builtin_bswap64(2) };
	struct record record = record_of(words, 2, RECORD_SAMPLE);
	EXPECT_INT(evlist_event_of_swapped(&evlist, &record), 1);
	record.type = RECORD_EXIT;
	EXPECT_INT(evlist_event_of_swapped(&evlist, &record), 1);
	evlist_fini(&evlist);
}

TEST("events that store their ids at different positions cannot be distinguished")
{
	struct evlist evlist = { 0 };
	struct attr with = attr_of(SAMPLE_IP | SAMPLE_ID), without = attr_of(SAMPLE_IP);
	struct attr other = attr_of(SAMPLE_IDENTIFIER | SAMPLE_IP);
	evlist_add(&evlist, &with, (uint64_t[]){ 1 }, 1, NULL);
	evlist_add(&evlist, &with, (uint64_t[]){ 2 }, 1, NULL);
	EXPECT_INT(evlist.id_at, 1);
	evlist_add(&evlist, &without, NULL, 0, NULL);
	EXPECT_INT(evlist.id_at, -1);
	EXPECT_INT(evlist_event_of_sample(&evlist, &(struct record){ .type = RECORD_SAMPLE, .body = (const uint8_t[8]){ 2 }, .body_len = 8 }), 0);
	evlist_add(&evlist, &other, (uint64_t[]){ 4 }, 1, NULL);
	uint64_t words[] = { 4, 2 };
	struct record record = record_of(words, 2, RECORD_SAMPLE);
	EXPECT_INT(evlist_event_of(&evlist, &record), 0);
	evlist_fini(&evlist);
}

TEST("the time of a record is read without decoding it, up to its last byte")
{
	struct evlist evlist = { 0 };
	struct attr attr = attr_of(SAMPLE_IP | SAMPLE_TIME);
	uint64_t sample[] = { 0x401000, 7 }, side[] = { 1, 2, 8 };
	struct record record = record_of(sample, 2, RECORD_SAMPLE);
	EXPECT_INT(evlist_time_of(&evlist, &record), -1);
	evlist_add(&evlist, &attr, NULL, 0, NULL);
	EXPECT_INT(evlist_time_of(&evlist, &record), 7);
	record.body_len = 15;
	EXPECT_INT(evlist_time_of(&evlist, &record), -1);
	record = record_of(side, 3, RECORD_COMM);
	EXPECT_INT(evlist_time_of(&evlist, &record), 8);
	record = record_of(side, 1, RECORD_COMM);
	EXPECT_INT(evlist_time_of(&evlist, &record), 1);
	record.body_len = 7;
	EXPECT_INT(evlist_time_of(&evlist, &record), -1);
	evlist_fini(&evlist);
	attr = attr_of(SAMPLE_IP);
	evlist_add(&evlist, &attr, NULL, 0, NULL);
	record = record_of(sample, 2, RECORD_SAMPLE);
	EXPECT_INT(evlist_time_of(&evlist, &record), -1);
	evlist_fini(&evlist);
}

TEST("ids that follow the first one closely, far ids, smaller ones and unknown ones between them have their own event, or none")
{
	enum { FAR = 1 << 14 };
	struct evlist evlist = { 0 };
	struct attr attr = attr_of(SAMPLE_IDENTIFIER);
	evlist_add(&evlist, &attr, (uint64_t[]){ 1000, 1002 }, 2, NULL);
	evlist_add(&evlist, &attr, (uint64_t[]){ 1003, 999, 1000 + FAR - 1 }, 3, NULL);
	evlist_add(&evlist, &attr, (uint64_t[]){ 1000 + FAR, UINT64_MAX }, 2, NULL);
	static const struct {
		uint64_t id;
		uint32_t event;
	} cases[] = { { 1000, 0 }, { 1001, UINT32_MAX }, { 1002, 0 }, { 1003, 1 }, { 1004, UINT32_MAX }, { 999, 1 }, { 998, UINT32_MAX },
		{ 1000 + FAR - 1, 1 }, { 1000 + FAR, 2 }, { 1001 + FAR, UINT32_MAX }, { UINT64_MAX, 2 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct record record = record_of(&cases[i].id, 1, RECORD_SAMPLE);
		EXPECT_INT(evlist_event_of(&evlist, &record), cases[i].event);
		EXPECT_INT(evlist_event_of_sample(&evlist, &record), cases[i].event);
	}
	evlist_fini(&evlist);
}
