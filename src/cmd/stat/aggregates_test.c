#include "cmd/stat/aggregates.h"

#include "base/str.h"
#include "unit.h"

/* Sockets of four CPUs, dies of two; every second CPU is in the other node. */
static void place_of(__attribute__((unused)) void *context, struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int level)
{
	*place = (struct cpu_place){ .socket = cpu / 4, .die = 10 + cpu / 2 };
	if (kind == CPU_PLACE_CORE)
		place->core = 20 + cpu;
	if (kind == CPU_PLACE_CLUSTER)
		place->cluster = 30 + cpu / 2;
	if (kind == CPU_PLACE_DIE || kind == CPU_PLACE_SOCKET)
		place->die = kind == CPU_PLACE_DIE ? place->die : 0;
	if (kind == CPU_PLACE_NODE)
		*place = (struct cpu_place){ .node = cpu % 2 };
	if (kind == CPU_PLACE_CACHE) {
		place->cache_level = level;
		place->cache = 40 + cpu / 2;
	}
}

/* "LABEL LABEL: event.row event.row" of two events on five CPUs, which are given in no order. */
static const char *made(enum stat_grain grain)
{
	static const struct stat_counter counters[] = { { .event = 0, .cpu = 5 }, { .event = 1, .cpu = 5 }, { .event = 0, .cpu = 2 },
		{ .event = 0, .cpu = 1 }, { .event = 1, .cpu = 0 }, { .event = 0, .cpu = 3 } };
	static const struct aggregate_thread threads[] = { { 7, "one" }, { 9, "t\n" } };
	static char text[256];
	struct aggregates a = { 0 };
	CLEANUP_STR struct str all = { 0 };
	aggregates_make(&a, &(struct aggregates_input){ .counters = counters, .count = 6, .threads = threads, .thread_count = 2,
		.place = place_of, .grain = grain, .cache_level = 3 });
	for (size_t i = 0; i < a.labels.count; i++)
		str_printf(&all, "%s%s", i ? " " : "", a.labels.items[i]);
	str_puts(&all, ":");
	for (size_t i = 0; i < a.places.count; i++)
		str_printf(&all, " %u.%u", a.places.items[i].event, a.places.items[i].aggregate);
	for (size_t i = 0; i < a.tids.count; i++)
		str_printf(&all, " tid %d", (int)a.tids.items[i]);
	snprintf(text, sizeof text, "%s", str_text(&all));
	aggregates_fini(&a);
	return text;
}

TEST("counts are added up by the places of their CPUs, whose rows are in the order of the places")
{
	EXPECT_STR(made(STAT_ALL), ": 0.0 1.0 0.0 0.0 1.0 0.0");
	EXPECT_STR(made(STAT_CPU), "CPU0 CPU1 CPU2 CPU3 CPU5: 0.4 1.4 0.2 0.1 1.0 0.3");
	EXPECT_STR(made(STAT_CORE), "S0-D10-C20 S0-D10-C21 S0-D11-C22 S0-D11-C23 S1-D12-C25: 0.4 1.4 0.2 0.1 1.0 0.3");
	EXPECT_STR(made(STAT_CLUSTER), "S0-D10-CLS30 S0-D11-CLS31 S1-D12-CLS32: 0.2 1.2 0.1 0.0 1.0 0.1");
	EXPECT_STR(made(STAT_CACHE), "S0-D10-L3-ID40 S0-D11-L3-ID41 S1-D12-L3-ID42: 0.2 1.2 0.1 0.0 1.0 0.1");
	EXPECT_STR(made(STAT_DIE), "S0-D10 S0-D11 S1-D12: 0.2 1.2 0.1 0.0 1.0 0.1");
	EXPECT_STR(made(STAT_SOCKET), "S0 S1: 0.1 1.1 0.0 0.0 1.0 0.0");
	EXPECT_STR(made(STAT_NODE), "N0 N1: 0.1 1.1 0.0 0.1 1.0 0.1");
}

TEST("threads have a row each, with their printable name and their id")
{
	EXPECT_STR(made(STAT_THREAD), "one t?: 0.0 1.0 0.0 0.0 1.0 0.0 tid 7 tid 9");
}

TEST("what has no counters has one row without a label")
{
	struct aggregates a = { 0 };
	aggregates_make(&a, &(struct aggregates_input){ .grain = STAT_CORE, .place = place_of });
	EXPECT_INT(a.labels.count, 1);
	EXPECT_STR(a.labels.items[0], "");
	EXPECT_INT(a.places.count, 0);
	aggregates_fini(&a);
}
