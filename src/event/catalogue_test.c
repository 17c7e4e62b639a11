#include "event/catalogue.h"

#include "event/test_machine.h"

static const struct catalogue_event *find(const struct catalogue *catalogue, const char *name)
{
	for (size_t i = 0; i < catalogue->list.count; i++)
		if (strcmp(catalogue->list.items[i].name, name) == 0)
			return &catalogue->list.items[i];
	unit_fail(__FILE__, __LINE__, "%s is absent", name);
	return NULL;
}

static size_t count_of(struct catalogue *catalogue, enum catalogue_kind kind)
{
	size_t before = catalogue->list.count;
	EXPECT_INT(catalogue_add(catalogue, kind, NULL), 0);
	return catalogue->list.count - before;
}

TEST("named events have an encoding, a unit, and one row for a family of PMUs")
{
	struct machine machine;
	struct catalogue catalogue = { 0 }, all = { .every_pmu = true };
	machine_open(&machine, &catalogue.pmus);
	all.pmus.root = machine.root;
	EXPECT_INT(count_of(&catalogue, CATALOGUE_PMU), 8);
	EXPECT_INT(count_of(&all, CATALOGUE_PMU), 9);
	EXPECT_STR(catalogue.list.items[0].name, "mem-loads");
	EXPECT_STR(catalogue.list.items[0].alias, "cpu_atom/mem-loads/");
	const struct catalogue_event *event = find(&catalogue, "power/energy-pkg/");
	if (event)
		EXPECT_STR(event->scale_unit, "0.25Joules");
	if (event)
		EXPECT_STR(event->encoding, "power/event=0x2/");
	event = find(&catalogue, "param");
	if (event)
		EXPECT_STR(event->alias, "cpu_core/param,umask=?/");
	find(&catalogue, "uncore_imc/clockticks/");
	find(&all, "uncore_imc_2/clockticks/");
	catalogue_fini(&catalogue);
	catalogue_fini(&all);
	machine_close(&machine);
}

TEST("named events are in the order of description, topic, core, PMU and name")
{
	static const char *const files[][2] = {
		{ "memory.json", "[{\"EventName\":\"AMOUNT\",\"Unit\":\"iMC\",\"EventCode\":\"4\",\"BriefDescription\":\"Amount\"},"
			"{\"EventName\":\"FIRST\",\"Unit\":\"iMC\",\"EventCode\":\"5\"}]" },
		{ "cache.json", "[{\"EventName\":\"ZONES\",\"Unit\":\"iMC\",\"EventCode\":\"6\",\"BriefDescription\":\"Zones\"},"
			"{\"EventName\":\"MISSES\",\"EventCode\":\"7\",\"BriefDescription\":\"Misses\"},"
			"{\"EventName\":\"HITS\",\"EventCode\":\"8\",\"BriefDescription\":\"Hits\"},"
			"{\"EventName\":\"LAST\",\"Unit\":\"iMC\",\"EventCode\":\"9\"}]" },
	};
	struct machine machine;
	struct catalogue catalogue = { 0 };
	CLEANUP_STR struct str got = { 0 };
	machine_open(&machine, &catalogue.pmus);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		machine_vendor_file(&machine, files[i][0], files[i][1]);
	catalogue.pmus.vendor.path = machine.root;
	EXPECT_INT(catalogue_add(&catalogue, CATALOGUE_PMU, NULL), 0);
	for (size_t i = 0; i < catalogue.list.count; i++)
		str_printf(&got, "%s %s\n", catalogue.list.items[i].pmu, catalogue.list.items[i].name);
	EXPECT_STR(got.text, "cpu_atom mem-loads\ncpu_core mem-loads\ncpu_core param\ncpu_core slots\ncpu_core topdown-retiring\n"
		"broken broken/bad/\npower power/energy-pkg/\nuncore_imc_0 uncore_imc/clockticks/\n"
		"uncore_imc uncore_imc/last/\nuncore_imc uncore_imc/first/\n"
		"cpu_atom hits\ncpu_atom misses\ncpu_core hits\ncpu_core misses\nuncore_imc zones\nuncore_imc amount\n");
	catalogue_fini(&catalogue);
	machine_close(&machine);
}

TEST("the forms of raw events show three terms of each PMU")
{
	struct machine machine;
	struct catalogue catalogue = { 0 };
	machine_open(&machine, &catalogue.pmus);
	EXPECT_INT(count_of(&catalogue, CATALOGUE_RAW), 10);
	EXPECT_STR(catalogue.list.items[0].name, "rNNN");
	find(&catalogue, "broken//modifier");
	const struct catalogue_event *core =
		find(&catalogue, "cpu_atom/event=0..255,config=0..0xffffffffffffffff,config1=0..0xffffffffffffffff,.../modifier");
	if (core)
		EXPECT_STR(core->description, "(see 'man perf-list' or 'man perf-record' on how to encode it)");
	const struct catalogue_event *other = find(&catalogue, "power/event=0..255/modifier");
	EXPECT(!other || !other->description);
	catalogue_fini(&catalogue);
	machine_close(&machine);
}

TEST("an event that the kernel refuses in every form is not supported")
{
	EXPECT_INT(catalogue_supports(ATTR_TRACEPOINT, UINT64_MAX), false);
	EXPECT_INT(catalogue_supports(UINT32_MAX, 0), false);
	EXPECT_INT(catalogue_supports(ATTR_SOFTWARE, UINT32_MAX), false);
}

TEST("software events that the kernel has are listed by name")
{
	struct catalogue catalogue = { 0 };
	size_t count = count_of(&catalogue, CATALOGUE_SOFTWARE);
	if (!count) {
		unit_skip("this user may not open events");
	} else {
		const struct catalogue_event *event = find(&catalogue, "context-switches");
		EXPECT(event && strcmp(event->alias, "cs") == 0);
	}
	EXPECT_INT(count_of(&catalogue, CATALOGUE_TOOL), 3);
	EXPECT_INT(count_of(&catalogue, CATALOGUE_BREAKPOINT), 1);
	catalogue_fini(&catalogue);
}
