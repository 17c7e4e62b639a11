#include "event/event_group.h"

#include "event/test_machine.h"

struct expected {
	const char *name;
	uint32_t leader, members;
};

static void expect_groups(const char *text, bool regrouped, const struct expected *expected, size_t count)
{
	struct machine machine;
	struct events events = { 0 };
	struct event_error err;
	machine_open(&machine, &events.pmus);
	if (events_parse(&events, text, &err) < 0)
		unit_fail(__FILE__, __LINE__, "\"%s\" is rejected: %s", text, err.what);
	EXPECT_INT(events.list.count, count);
	EXPECT_INT(events.regrouped, regrouped);
	for (size_t i = 0; i < events.list.count && i < count; i++) {
		const struct event *event = &events.list.items[i];
		if (strcmp(event->name, expected[i].name) != 0 || event->leader != expected[i].leader || event->members != expected[i].members)
			unit_fail(__FILE__, __LINE__, "\"%s\": event %zu is %s, led by %u with %u", text, i, event->name, event->leader,
				event->members);
	}
	events_fini(&events);
	machine_close(&machine);
}

#define EXPECT_GROUPS(text, regrouped, ...) \
	expect_groups(text, regrouped, (const struct expected[]){ __VA_ARGS__ }, \
		sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected))

TEST("a group is divided by PMU, and software joins the leader's")
{
	EXPECT_GROUPS("{cpu_core/event=1/,cpu_atom/event=2/,cpu-clock}", true, { "cpu_atom/event=2/", 0, 0 },
		{ "cpu_core/event=1/", 1, 2 }, { "cpu-clock", 1, 0 });
	EXPECT_GROUPS("{cpu-clock,cpu_core/event=1/}", false, { "cpu-clock", 0, 2 }, { "cpu_core/event=1/", 0, 0 });
	EXPECT_GROUPS("{cpu_core/cycles/,cpu_atom/cycles/}", true, { "cpu_atom/cycles/", 0, 0 }, { "cpu_core/cycles/", 1, 0 });
	EXPECT_GROUPS("{cpu-clock,faults},cs", false, { "cpu-clock", 0, 2 }, { "faults", 0, 0 }, { "cs", 2, 0 });
}

TEST("topdown events are gathered in a group that slots leads")
{
	EXPECT_GROUPS("cpu_core/topdown-retiring/,cpu-clock,cpu_core/slots/", true, { "cpu_core/slots/", 0, 2 },
		{ "cpu_core/topdown-retiring/", 0, 0 }, { "cpu-clock", 2, 0 });
	EXPECT_GROUPS("{cpu_core/event=3/,cpu_core/slots/}", true, { "cpu_core/slots/", 0, 2 }, { "cpu_core/event=3/", 0, 0 });
}

TEST("events outside of groups remain in their order")
{
	EXPECT_GROUPS("uncore_imc/event=1/,cpu_core/event=2/", false, { "uncore_imc/event=1/", 0, 0 }, { "uncore_imc/event=1/", 1, 0 },
		{ "uncore_imc/event=1/", 2, 0 }, { "cpu_core/event=2/", 3, 0 });
}

TEST("events of several kinds of cores are named after them")
{
	static const char *const expected[] = { "cpu_atom/cycles/u", "cpu_core/cycles/u", "cpu-clock", "cpu_core/event=1/", "cpu_core/4/1" };
	struct machine machine;
	struct events events = { 0 };
	machine_open(&machine, &events.pmus);
	EXPECT_INT(events_parse(&events, "cycles:u,cpu-clock,cpu_core/event=1/,4:1", NULL), 0);
	EXPECT_INT(events.list.count, 5);
	events_name_cores(&events);
	for (size_t i = 0; i < events.list.count && i < 5; i++)
		EXPECT_STR(events.list.items[i].name, expected[i]);
	events_fini(&events);
	machine_close(&machine);
}
