#include "analysis/stat/stat_records.h"

#include <string.h>

#include "base/bytes.h"
#include "unit.h"

static struct record of(const void *body, size_t len)
{
	return (struct record){ .body = body, .body_len = (uint32_t)len };
}

TEST("a configuration has its terms, and an unknown aggregation is refused")
{
	uint64_t body[] = { 4, 0, 6, 1, 250, 2, 1, 3, 2 };
	struct stat_config config;
	struct record record = of(body, sizeof body);
	EXPECT(stat_config_read(&record, &config));
	EXPECT(config.aggregation == STAT_BY_CORE && config.interval_ms == 250 && config.scale && config.cache_level == 2);
	record.body_len -= 8;
	EXPECT(!stat_config_read(&record, &config));
	record.body_len += 8;
	body[2] = STAT_BY_COUNT;
	EXPECT(!stat_config_read(&record, &config));
}

TEST("threads have ids and names, and a count beyond the record is refused")
{
	struct {
		uint64_t count, tid;
		char comm[16];
	} body = { 1, 77, "0123456789abcdef" };
	struct arena arena = { 0 };
	struct stat_threads threads = { 0 };
	memcpy(body.comm, "0123456789abcdef", sizeof body.comm);
	struct record record = of(&body, sizeof body);
	EXPECT(stat_threads_read(&record, &arena, &threads));
	EXPECT_INT(threads.list.count, 1);
	EXPECT_INT(threads.list.items[0].tid, 77);
	EXPECT_STR(threads.list.items[0].comm, "0123456789abcdef");
	body.count = 2;
	EXPECT(!stat_threads_read(&record, &arena, &threads));
	body.count = (uint64_t)-1 / 24 + 2;
	EXPECT(!stat_threads_read(&record, &arena, &threads));
	vec_fini(&threads.list);
	arena_fini(&arena);
}

static void expect_cpus(const void *body, size_t len, const char *expected)
{
	struct cpus cpus = { 0 };
	CLEANUP_STR struct str text = { 0 };
	struct record record = of(body, len);
	EXPECT(stat_cpus_read(&record, &cpus) == (expected != NULL));
	cpus_text(&cpus, &text);
	if (expected)
		EXPECT_STR(str_text(&text), expected);
	cpus_fini(&cpus);
}

TEST("CPUs are a list, a mask of either width, or a range")
{
	const uint16_t list[] = { 0, 2, 5, 1 }, range[] = { 2, 0, 3, 9 }, backwards[] = { 2, 0, 9, 3 }, unknown[] = { 7, 0, 0, 0 };
	const uint16_t little32[] = { 1, 2, 4, 3, 0, 0, 0x8000 }, little64[] = { 1, 1, 8, 0, 0, 3, 0, 0, 0x8000 }, odd[] = { 1, 1, 5, 1, 1 };
	const uint16_t big32[] = { 1, 2, 4, 0, 3, 0x8000, 0 }, big64[] = { 1, 1, 8, 0, 0, 0x8000, 0, 0, 3 };
	const uint16_t *mask32 = HOST_IS_BIG_ENDIAN ? big32 : little32, *mask64 = HOST_IS_BIG_ENDIAN ? big64 : little64;
	expect_cpus(list, sizeof list, "1,5");
	expect_cpus(list, sizeof list - 2, NULL);
	expect_cpus(range, sizeof range, "3-9");
	expect_cpus(backwards, sizeof backwards, NULL);
	expect_cpus(unknown, sizeof unknown, NULL);
	expect_cpus(mask32, sizeof big32, "0-1,63");
	expect_cpus(mask32, sizeof big32 - 2, NULL);
	expect_cpus(mask64, sizeof big64, "0-1,63");
	expect_cpus(odd, sizeof odd, NULL);
	const uint16_t any[] = { 0, 1, 0xffff };
	struct cpus cpus = { 0 };
	struct record record = of(any, sizeof any);
	EXPECT(stat_cpus_read(&record, &cpus));
	EXPECT(cpus.list.count == 1 && cpus.list.items[0] == -1);
	cpus_fini(&cpus);
}

TEST("counts and rounds must be complete")
{
	const struct {
		uint64_t id;
		uint32_t cpu, thread;
		uint64_t value, enabled, running;
	} body = { 4, (uint32_t)-1, 3, 100, 20, 10 };
	const uint64_t end[] = { STAT_ROUND_FINAL, 77 };
	struct stat_value value;
	struct stat_round round;
	struct record record = of(&body, sizeof body);
	EXPECT(stat_value_read(&record, &value));
	EXPECT(value.id == 4 && value.cpu == -1 && value.thread == 3 && value.value == 100 && value.enabled == 20 && value.running == 10);
	record.body_len--;
	EXPECT(!stat_value_read(&record, &value));
	record = of(end, sizeof end);
	EXPECT(stat_round_read(&record, &round) && round.type == STAT_ROUND_FINAL && round.time_ns == 77);
	record.body_len--;
	EXPECT(!stat_round_read(&record, &round));
}
