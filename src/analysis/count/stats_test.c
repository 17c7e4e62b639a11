#include "analysis/count/stats.h"

#include "unit.h"

static void count_one_record(struct stats *stats, const struct header *header, uint32_t type, const void *body, size_t len)
{
	struct record record = { .type = type, .body = body, .body_len = (uint32_t)len };
	stats_count(stats, header, &record);
}

TEST("records are counted by type, samples by event")
{
	struct stats stats = { 0 };
	struct header header = { 0 };
	struct attr attr = { .sample_type = SAMPLE_IDENTIFIER, .flags = 1ull << ATTR_SAMPLE_ID_ALL };
	evlist_add(&header.evlist, &attr, (uint64_t[]){ 1 }, 1, NULL);
	evlist_add(&header.evlist, &attr, (uint64_t[]){ 2 }, 1, NULL);
	uint64_t first[] = { 1 }, second[] = { 2 }, unknown[] = { 3 }, lost[] = { 5, 2 };
	count_one_record(&stats, &header, RECORD_SAMPLE, second, sizeof second);
	count_one_record(&stats, &header, RECORD_SAMPLE, second, sizeof second);
	count_one_record(&stats, &header, RECORD_SAMPLE, first, sizeof first);
	count_one_record(&stats, &header, RECORD_SAMPLE, unknown, sizeof unknown);
	count_one_record(&stats, &header, RECORD_LOST_SAMPLES, lost, sizeof lost);
	count_one_record(&stats, &header, 4711, NULL, 0);
	EXPECT_INT(stats.total, 6);
	EXPECT_INT(stats.by_type[RECORD_SAMPLE], 4);
	EXPECT_INT(stats.events.items[0].samples, 1);
	EXPECT_INT(stats.events.items[1].samples, 2);
	EXPECT_INT(stats.events.items[1].lost, 5);
	stats_fini(&stats);
	header_fini(&header);
}

TEST("a sample with counter values counts for each event whose value has changed")
{
	struct stats stats = { 0 };
	struct header header = { 0 };
	struct attr attr = { .sample_type = SAMPLE_ID | SAMPLE_READ, .read_format = READ_GROUP | READ_ID };
	evlist_add(&header.evlist, &attr, (uint64_t[]){ 1 }, 1, NULL);
	evlist_add(&header.evlist, &attr, (uint64_t[]){ 2 }, 1, NULL);
	uint64_t sample[] = { 1, 2, /* values: */ 10, 1, 20, 2 }, later[] = { 1, 2, 15, 1, 20, 2 };
	count_one_record(&stats, &header, RECORD_SAMPLE, sample, sizeof sample);
	count_one_record(&stats, &header, RECORD_SAMPLE, later, sizeof later);
	EXPECT_INT(stats.events.items[0].samples, 2);
	EXPECT_INT(stats.events.items[1].samples, 1);
	stats_fini(&stats);
	header_fini(&header);
}
