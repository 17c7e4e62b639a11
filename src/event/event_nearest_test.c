#include "event/event_nearest.h"

#include "event/test_machine.h"

static void expect_help(const char *text, const char *part)
{
	struct machine machine;
	struct events events = { 0 };
	struct event_error err = { 0 };
	machine_open(&machine, &events.pmus);
	EXPECT(events_parse(&events, text, &err) < 0);
	if (!strstr(err.help, part))
		unit_fail(__FILE__, __LINE__, "\"%s\": the help lacks \"%s\": %s", text, part, err.help);
	events_fini(&events);
	machine_close(&machine);
}

TEST("a wrong name is answered with the nearest names")
{
	expect_help("cyclse", "Similar: cycles");
	expect_help("energy-pgk", "Similar: energy-pkg");
	expect_help("powr/event=1/", "Similar: power//");
	expect_help("L1-dcache-lods", "Similar: L1-dcache-loads");
	expect_help("dTLB-store-mises", "Similar: dTLB-store-misses");
	expect_help("branch-lods", "Similar: branch-loads");
	expect_help("node-prefetch-mises", "Similar: node-prefetch-misses");
	expect_help("cpu-clock/perod=3/", "Similar: period");
	expect_help("cpu_core/umsk=3/", "Similar: umask");
}

TEST("a name of another processor or kernel says what has it")
{
	expect_help("ibs_op//", "This CPU: only AMD's");
	expect_help("msr/tsc/", "This kernel: it has no PMU of model specific registers");
	expect_help("kprobe/config=1/", "This kernel: it lacks CONFIG_KPROBE_EVENTS"); /* although uprobe is similar */
	expect_help("c6-residency", "modprobe intel_cstate");
}
