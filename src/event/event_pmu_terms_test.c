#include "event/test_machine.h"

/* What is wrong with an event of the machine, and where; or the values of its attribute. */
static void expect_terms(struct machine *machine, const char *text, const char *want)
{
	struct events events = { .pmus.root = machine->root };
	struct event_error wrong = { 0 };
	char got[512];
	if (events_parse(&events, text, &wrong) == 0)
		snprintf(got, sizeof got, "%u %llx %llx", events.list.items[0].attr.type, (unsigned long long)events.list.items[0].attr.config,
			 (unsigned long long)events.list.items[0].attr.config1);
	else
		snprintf(got, sizeof got, "%zu %s", wrong.at, wrong.what);
	if (strcmp(got, want) != 0)
		unit_fail(__FILE__, __LINE__, "%s: \"%s\", expected \"%s\"", text, got, want);
	events_fini(&events);
}

/* A term that an event sets is not replaced, but added bit by bit, as in perf. */
TEST("terms of a PMU are bits of its formats, or are refused with the place and the reason")
{
	static const char *const rows[][2] = {
		{ "cpu_core/event=0x10,umask=0x2/", "4 210 0" },
		{ "cpu_core/event=0xff,inv/", "4 8000ff 0" },
		{ "cpu_core/ldlat=0xffff/", "4 0 ffff" },
		{ "cpu_core/mem-loads/", "4 1cd 3" },
		{ "cpu_core/mem-loads,ldlat=30/", "4 1cd 1f" },
		{ "cpu_core/param,umask=5/", "4 510 0" },
		{ "cpu_core/param/", "9 Required parameter 'umask' not specified" },
		{ "cpu_core/event=0x100/", "15 value too big for format (event), maximum is 255" },
		{ "cpu_core/inv=2/", "13 value too big for format (inv), maximum is 1" },
		{ "cpu_core/event/", "9 no value assigned for term" },
		{ "cpu_core/event=abc/", "15 expected numeric value" },
		{ "cpu_core/nosuch=1/", "9 unknown term 'nosuch' for pmu 'cpu_core'" },
		{ "broken/bad/", "7 the kernel describes bad of PMU broken by invalid terms" },
		{ "broken/event=1/", "7 unknown term 'event' for pmu 'broken'" },
		{ "cpu_core/config=7/", "4 7 0" },
	};
	struct machine machine;
	struct pmus pmus = { 0 };
	machine_open(&machine, &pmus);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		expect_terms(&machine, rows[i][0], rows[i][1]);
	machine_close(&machine);
}
