#include "event/pmu.h"

#include "event/test_machine.h"

TEST("PMUs are in the order of cores, names, and numbers at their end")
{
	static const char *const expected[] = { "cpu_atom", "cpu_core", "breakpoint", "broken", "power", "software", "tracepoint",
		"uncore_imc_0", "uncore_imc_2", "uncore_imc_10", "uprobe" };
	struct machine machine;
	struct pmus pmus = { 0 };
	machine_open(&machine, &pmus);
	pmus_read(&pmus);
	EXPECT_INT(pmus.list.count, 11);
	EXPECT_INT(pmus_core_count(&pmus), 2);
	for (size_t i = 0; i < pmus.list.count && i < 11; i++)
		EXPECT_STR(pmus.list.items[i]->name, expected[i]);
	pmus_fini(&pmus);
	machine_close(&machine);
}

TEST("a machine without PMUs gets one for raw events of the processor")
{
	struct pmus pmus = { .root = "/nonexistent" };
	EXPECT_INT(pmus_core_count(&pmus), 1);
	EXPECT_STR(pmus.list.items[0]->name, "cpu");
	EXPECT_INT(pmus.list.items[0]->type, ATTR_RAW);
	EXPECT(pmus.list.items[0]->core && pmus.list.items[0]->loaded);
	EXPECT(!pmu_event(&pmus, pmus.list.items[0], "slots"));
	pmus_fini(&pmus);
}

TEST("a family and a pattern denote PMUs with and without the prefix")
{
	struct pmu imc = { .name = "uncore_imc_10" }, smmu = { .name = "smmuv3_pmcg_2b442", .alias = "second" }, s390 = { .name = "cpum_cf" };
	EXPECT(pmu_matches(&imc, "uncore_imc") && pmu_matches(&imc, "imc") && pmu_matches(&imc, "imc_1") && pmu_matches(&imc, "imc_*"));
	EXPECT(!pmu_matches(&imc, "im") && !pmu_matches(&imc, "imc_2") && !pmu_matches(&imc, "imc_10_"));
	EXPECT(pmu_matches(&smmu, "smmuv3_pmcg") && pmu_matches(&smmu, "second"));
	EXPECT(!pmu_matches(&s390, "cpum"));
	EXPECT_INT(pmu_family_length("uncore_imc_10"), 10);
	EXPECT_INT(pmu_family_length("smmuv3_pmcg_2b442"), 11);
	EXPECT_INT(pmu_family_length("cpum_cf"), 7);
	EXPECT_INT(pmu_family_length("cpu0"), 4);
}

TEST("an event is read by name in either case, with its unit and scale")
{
	struct machine machine;
	struct pmus pmus = { 0 };
	machine_open(&machine, &pmus);
	struct pmu *power = pmus_named(&pmus, "power");
	EXPECT(power && power->has_cpumask && !power->core);
	const struct pmu_event *event = power ? pmu_event(&pmus, power, "Energy-PKG") : NULL;
	EXPECT(event && event->per_package && !event->snapshot && event->scale == 0.25);
	if (event)
		EXPECT_STR(event->unit, "Joules");
	EXPECT(power && !pmu_event(&pmus, power, "energy-pkg.unit") && !pmu_event(&pmus, power, "../type"));
	if (power) {
		pmu_load_events(&pmus, power);
		EXPECT_INT(power->events.count, 1);
	}
	struct pmu *broken = pmus_named(&pmus, "broken");
	EXPECT(broken && broken->formats.count == 0);
	EXPECT(!pmus_named(&pmus, "powe"));
	pmus_fini(&pmus);
	machine_close(&machine);
}

TEST("events of vendors' files are those of their unit's PMUs, unless the kernel has the name")
{
	struct machine machine;
	struct pmus pmus = { 0 };
	machine_open(&machine, &pmus);
	machine_vendor_file(&machine, "events.json",
		"[{\"EventName\":\"CAS\",\"Unit\":\"iMC\",\"EventCode\":\"0x4\",\"ScaleUnit\":\"64Bytes\",\"PerPkg\":\"1\"},"
		"{\"EventName\":\"CLOCKTICKS\",\"Unit\":\"iMC\",\"EventCode\":\"1\"},"
		"{\"EventName\":\"CORE\",\"EventCode\":\"0x9\",\"UMask\":\"0x2\"}]");
	pmus.vendor.path = machine.root;
	struct pmu *imc = pmus_named(&pmus, "uncore_imc_2"), *power = pmus_named(&pmus, "power"), *core = pmus_named(&pmus, "cpu_core");
	const struct pmu_event *event = imc ? pmu_event(&pmus, imc, "cas") : NULL;
	EXPECT(event && event->vendor && event->scale == 64 && strcmp(event->unit, "Bytes") == 0 && event->per_package);
	EXPECT(imc && pmu_event(&pmus, imc, "core") == NULL);
	EXPECT(power && pmu_event(&pmus, power, "cas") == NULL);
	event = core ? pmu_event(&pmus, core, "Core") : NULL;
	EXPECT(event && strcmp(event->terms, "event=9,umask=2") == 0);
	event = imc ? pmu_event(&pmus, imc, "clockticks") : NULL;
	EXPECT(event && !event->vendor && strcmp(event->terms, "event=0xff") == 0);
	EXPECT(imc && !pmu_kernel_event(&pmus, imc, "cas"));
	if (imc)
		pmu_load_events(&pmus, imc);
	EXPECT_INT(imc ? imc->events.count : 0, 2);
	pmus_fini(&pmus);
	machine_close(&machine);
}

static struct event vendor_event(struct events *events, const char *text)
{
	struct event_error err;
	if (events_parse(events, text, &err) < 0) {
		unit_fail(__FILE__, __LINE__, "\"%s\" is rejected: %s", text, err.what);
		return (struct event){ .name = "" };
	}
	return events->list.items[events->list.count - 1];
}

TEST("the period of a vendor's event is used unless the user gives one")
{
	struct machine machine;
	struct events events = { 0 };
	machine_open(&machine, &events.pmus);
	machine_vendor_file(&machine, "events.json",
		"[{\"EventName\":\"A\",\"Unit\":\"cpu_core\",\"EventCode\":\"0x4\",\"SampleAfterValue\":\"2003\"}]");
	events.pmus.vendor.path = machine.root;
	struct event event = vendor_event(&events, "a:u");
	EXPECT(event.period_is_vendors && event.terms.set & EVENT_TERM_PERIOD);
	EXPECT_INT(event.terms.period, 2003);
	EXPECT_INT(event.attr.config, 4);
	EXPECT_STR(event.name, "a:u");
	event = vendor_event(&events, "cpu_core/A,period=7/");
	EXPECT_INT(event.terms.period, 7);
	EXPECT(!event.period_is_vendors);
	event = vendor_event(&events, "A/freq=9/");
	EXPECT(event.terms.set & EVENT_TERM_FREQ && !(event.terms.set & EVENT_TERM_PERIOD));
	events_fini(&events);
	machine_close(&machine);
}
