#include "data/evsel_name.h"

#include "unit.h"

#define FLAG(name) (1ull << ATTR_##name)

TEST("a name is composed of type, config and modifiers")
{
	static const struct {
		struct attr attr;
		const char *name;
	} rows[] = {
		{ { .type = ATTR_HARDWARE, .flags = FLAG(EXCLUDE_GUEST) }, "cycles" },
		{ { .type = ATTR_HARDWARE }, "cycles:HG" },
		{ { .type = ATTR_HARDWARE, .flags = FLAG(EXCLUDE_KERNEL) | FLAG(EXCLUDE_HV) }, "cycles:u" },
		{ { .type = ATTR_HARDWARE, .flags = FLAG(EXCLUDE_KERNEL) | FLAG(EXCLUDE_HV) | FLAG(EXCLUDE_GUEST) }, "cycles:uH" },
		{ { .type = ATTR_HARDWARE, .flags = FLAG(EXCLUDE_USER) }, "cycles:kh" },
		{ { .type = ATTR_HARDWARE, .flags = FLAG(PRECISE_IP) | FLAG(PRECISE_IP_HIGH) }, "cycles:ppp" },
		{ { .type = ATTR_HARDWARE, .flags = FLAG(EXCLUDE_HOST) }, "cycles:G" },
		{ { .type = ATTR_HARDWARE, .flags = FLAG(EXCLUDE_HOST) | FLAG(EXCLUDE_GUEST) }, "cycles" },
		{ { .type = ATTR_HARDWARE, .config = 10, .flags = FLAG(EXCLUDE_GUEST) }, "unknown-hardware" },
		{ { .type = ATTR_HARDWARE, .config = 0x400000001, .flags = FLAG(EXCLUDE_GUEST) }, "cpu/instructions/" },
		{ { .type = ATTR_SOFTWARE, .config = 5, .flags = FLAG(EXCLUDE_GUEST) }, "minor-faults" },
		{ { .type = ATTR_SOFTWARE, .config = 10, .flags = FLAG(EXCLUDE_GUEST) }, "unknown-software" },
		{ { .type = ATTR_HW_CACHE, .config = 0x10000, .flags = FLAG(EXCLUDE_GUEST) }, "L1-dcache-load-misses" },
		{ { .type = ATTR_HW_CACHE, .config = 0x201, .flags = FLAG(EXCLUDE_GUEST) }, "L1-icache-prefetches" },
		{ { .type = ATTR_HW_CACHE, .config = 0x101, .flags = FLAG(EXCLUDE_GUEST) }, "invalid-cache" },
		{ { .type = ATTR_HW_CACHE, .config = 0x7, .flags = FLAG(EXCLUDE_GUEST) }, "unknown-ext-hardware-cache-type" },
		{ { .type = ATTR_RAW, .config = 0x1a8, .flags = FLAG(EXCLUDE_GUEST) }, "raw 0x1a8" },
		{ { .type = ATTR_BREAKPOINT, .config1 = 0x1000, .bp_type = 3, .flags = FLAG(EXCLUDE_GUEST) }, "mem:0x1000:rw" },
		{ { .type = ATTR_TRACEPOINT }, "unknown tracepoint" },
		{ { .type = 999 }, "unknown attr type: 999" },
	};
	char buffer[EVSEL_NAME_MAX];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		EXPECT_STR(attr_name(&rows[i].attr, buffer, sizeof buffer), rows[i].name);
}

TEST("the recorded name precedes, and a short buffer truncates")
{
	struct evsel evsel = { .name = "mine", .attr = { .type = ATTR_RAW, .config = 0x123456 } };
	char buffer[8];
	EXPECT_STR(evsel_name(&evsel, buffer, sizeof buffer), "mine");
	evsel.name = NULL;
	EXPECT_STR(evsel_name(&evsel, buffer, sizeof buffer), "raw 0x1");
}

static bool lookup_of_test(const void *context, uint64_t id, const char **system, const char **name)
{
	*system = "sched";
	*name = "sched_switch";
	return id == 5;
}

TEST("tracepoints without a name get it from the formats")
{
	struct evlist evlist = { 0 };
	char buffer[EVSEL_NAME_MAX];
	struct attr known = { .type = ATTR_TRACEPOINT, .config = 5 }, unknown = { .type = ATTR_TRACEPOINT, .config = 6 };
	evlist_add(&evlist, &known, NULL, 0, NULL);
	evlist_add(&evlist, &unknown, NULL, 0, NULL);
	evlist_add(&evlist, &known, NULL, 0, "named");
	evlist_name_tracepoints(&evlist, 0, lookup_of_test, NULL);
	EXPECT_STR(evsel_name(&evlist.events.items[0], buffer, sizeof buffer), "sched:sched_switch");
	EXPECT_STR(evsel_name(&evlist.events.items[1], buffer, sizeof buffer), "unknown tracepoint");
	EXPECT_STR(evsel_name(&evlist.events.items[2], buffer, sizeof buffer), "named");
	evlist_fini(&evlist);
}
