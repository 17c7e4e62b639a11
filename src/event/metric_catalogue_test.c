#include "event/metric_catalogue.h"

#include "base/str.h"
#include "event/own_metrics.h"
#include "event/test_machine.h"

/* A line for each entry: group, description of the group, name. */
static void entries_text(const struct metric_entries *entries, struct str *out)
{
	for (size_t i = 0; i < entries->list.count; i++) {
		const struct metric_entry *entry = &entries->list.items[i];
		str_printf(out, "%s (%s) %s\n", entry->group, entry->group_description ? entry->group_description : "-", entry->metric->name);
	}
}

/* Of perfuse's metrics two are shown: others need events that not every machine has. */
static bool is_shown(const struct metric *metric)
{
	for (const struct metric *own = own_metrics; own->name; own++)
		if (own == metric)
			return strcmp(own->name, "switch_rate") == 0 || strcmp(own->name, "cpus_utilized") == 0;
	return true;
}

/* Entries of the machine of test_machine.h with these files of a vendor. */
static void expect_entries(const char *metrics, const char *groups, const char *want)
{
	struct machine machine;
	struct catalogue catalogue = { 0 };
	struct metric_entries entries = { 0 };
	CLEANUP_STR struct str got = { 0 };
	machine_open(&machine, &catalogue.pmus);
	machine_vendor_file(&machine, "metrics.json", metrics);
	machine_vendor_file(&machine, "metricgroups.json", groups);
	catalogue.pmus.vendor.path = machine.root;
	metric_entries_make(&entries, &catalogue);
	size_t left = 0;
	for (size_t i = 0; i < entries.list.count; i++)
		if (is_shown(entries.list.items[i].metric))
			entries.list.items[left++] = entries.list.items[i];
	entries.list.count = left;
	entries_text(&entries, &got);
	EXPECT_STR(str_text(&got), want);
	metric_entries_fini(&entries);
	catalogue_fini(&catalogue);
	machine_close(&machine);
}

#define METRIC(name, more) "{\"MetricName\":\"" name "\",\"MetricExpr\":\"1\"" more "}"

TEST("metrics are listed by group and name, in each of their groups, and without a group below their own name")
{
	expect_entries("[" METRIC("m_two", ",\"MetricGroup\":\"B;;A\"") "," METRIC("m_one", ",\"MetricGroup\":\"B\"") ","
		METRIC("alone", "") "," METRIC("empty", ",\"MetricGroup\":\"\"") "]",
		"{\"B\":\"about B\",\"software\":\"of the kernel\"}",
		"A (-) m_two\nB (about B) m_one\nB (about B) m_two\nalone (-) alone\nempty (-) empty\n"
		"software (of the kernel) switch_rate\nsummary (-) cpus_utilized\n");
}

TEST("a metric of a file hides perfuse's of the same name")
{
	expect_entries("[" METRIC("switch_rate", ",\"MetricGroup\":\"mine\"") "," METRIC("cpus_utilized", ",\"MetricGroup\":\"summary\"") "]",
		"{}",
		"mine (-) switch_rate\nsummary (-) cpus_utilized\n");
}

static bool has_own(const struct metric_entries *entries, const char *name)
{
	for (size_t i = 0; i < entries->list.count; i++)
		if (strcmp(entries->list.items[i].metric->name, name) == 0)
			return true;
	return false;
}

TEST("perfuse's metrics are listed where the kernel counts all of their events")
{
	enum { CYCLES, INSTRUCTIONS, REFERENCES, MISSES };
	enum { L1D_LOADS = 0, L1D_LOAD_MISSES = 1 << 16 };
	struct catalogue catalogue = { 0 };
	struct metric_entries entries = { 0 };
	metric_entries_make(&entries, &catalogue);
	bool instructions = catalogue_supports(ATTR_HARDWARE, INSTRUCTIONS);
	EXPECT_INT(has_own(&entries, "ipc"), instructions && catalogue_supports(ATTR_HARDWARE, CYCLES));
	EXPECT_INT(has_own(&entries, "cache_mpki"), instructions && catalogue_supports(ATTR_HARDWARE, MISSES));
	EXPECT_INT(has_own(&entries, "cache_miss_rate"),
		catalogue_supports(ATTR_HARDWARE, MISSES) && catalogue_supports(ATTR_HARDWARE, REFERENCES));
	EXPECT_INT(has_own(&entries, "l1d_miss_rate"),
		catalogue_supports(ATTR_HW_CACHE, L1D_LOADS) && catalogue_supports(ATTR_HW_CACHE, L1D_LOAD_MISSES));
	EXPECT(has_own(&entries, "page_fault_rate") && has_own(&entries, "cpus_utilized"));
	metric_entries_fini(&entries);
	catalogue_fini(&catalogue);
}
