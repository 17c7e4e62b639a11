#include "script/stat.h"

#include <stdlib.h>

#include "unit.h"

/* A field of 8 bytes with two values of 4. */
static uint64_t both(uint32_t first, uint32_t second)
{
	uint64_t value;
	memcpy(&value, (uint32_t[]){ first, second }, sizeof value);
	return value;
}

static void add(struct listing_stat *stat, const struct evlist *evlist, uint32_t type, const void *body, uint32_t len,
	struct writer *out)
{
	struct record record = { .type = type, .body = body, .body_len = len };

	listing_stat_add(stat, evlist, &record, out);
}

TEST("each round shows the counts since the round before, scaled to the enabled time")
{
	static const uint64_t threads[] = { 1, 42, 0, 0 }, round[] = { 0, 1000 }, config[] = { 1, 2, 1 };
	static const uint16_t cpus[] = { 0, 1, 0xffff };
	struct attr attr = { .type = ATTR_SOFTWARE };
	const uint64_t id = 5;
	struct evlist evlist = { 0 };
	struct listing_stat stat = { 0 };
	struct writer out;

	writer_open(&out, -1, 64);
	evlist_add(&evlist, &attr, &id, 1, "cpu-clock");
	add(&stat, &evlist, RECORD_THREAD_MAP, threads, sizeof threads, &out);
	add(&stat, &evlist, RECORD_CPU_MAP, cpus, sizeof cpus, &out);
	add(&stat, &evlist, RECORD_STAT_CONFIG, config, sizeof config, &out);
	for (uint64_t i = 1; i <= 3; i++) {
		uint64_t values[] = { 5, both(0xffffffff, 0), i < 3 ? 10 * i : UINT64_MAX, i < 3 ? 8 * i : UINT64_MAX, 4 * i };
		add(&stat, &evlist, RECORD_STAT, values, sizeof values, &out);
		add(&stat, &evlist, RECORD_STAT_ROUND, round, sizeof round, &out);
	}
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer,
		"CPU   THREAD             VAL             ENA             RUN            TIME EVENT\n"
		" -1       42              20               8               4            1000 cpu-clock\n"
		" -1       42              20               8               4            1000 cpu-clock\n"
		" -1       42 18446744073709551615 18446744073709551599               4            1000 cpu-clock\n");
	writer_fini(&out);
	listing_stat_fini(&stat);
	evlist_fini(&evlist);
}

TEST("values of CPUs and threads that are in no map are dropped")
{
	const uint64_t values[] = { 5, both(7, 9), 1, 1, 1 };
	static const uint64_t round[] = { 0, 1 }, none[] = { 0xffffffffffffffff };
	static const uint16_t cpus[] = { 2, 0, 0, 0xffff };
	struct evlist evlist = { 0 };
	struct listing_stat stat = { 0 };
	struct attr attr = { 0 };
	struct writer out;

	writer_open(&out, -1, 64);
	evlist_add(&evlist, &attr, NULL, 0, "x");
	add(&stat, &evlist, RECORD_STAT, values, sizeof values, &out);
	add(&stat, &evlist, RECORD_STAT_ROUND, round, sizeof round, &out);
	add(&stat, &evlist, RECORD_CPU_MAP, cpus, sizeof cpus, &out);
	add(&stat, &evlist, RECORD_THREAD_MAP, none, sizeof none, &out);
	add(&stat, &evlist, RECORD_STAT, values, 10, &out);
	add(&stat, &evlist, RECORD_STAT, values, sizeof values, &out);
	add(&stat, &evlist, RECORD_STAT_ROUND, round, sizeof round, &out);
	EXPECT_INT(out.len, 0);
	writer_fini(&out);
	listing_stat_fini(&stat);
	evlist_fini(&evlist);
}
