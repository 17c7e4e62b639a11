#include "event/metric_plan.h"

#include <math.h>

#include "base/str.h"
#include "event/metric_order.h"
#include "event/own_metrics.h"
#include "event/test_machine.h"

struct planned {
	struct machine machine;
	struct events events;
	struct metric_plan plan;
	struct error err;
};

/* Plans metrics of a file on the machine of test_machine.h. */
static int plan(struct planned *t, const char *file, const char *text)
{
	machine_open(&t->machine, &t->events.pmus);
	machine_vendor_file(&t->machine, "metrics.json", file);
	t->events.pmus.vendor.path = t->machine.root;
	return metric_plan_add(&t->plan, &t->events, text, &t->err);
}

static void close_plan(struct planned *t)
{
	metric_plan_fini(&t->plan);
	events_fini(&t->events);
	machine_close(&t->machine);
}

#define METRIC(name, expression, more) "{\"MetricName\":\"" name "\",\"MetricExpr\":\"" expression "\"" more "}"

/* The events, with a bar before each leader, then the metrics with the event that shows each. */
static void expect_plan(const char *file, struct metric_options options, const char *text, const char *want)
{
	struct planned t = { .plan.options = options };
	CLEANUP_STR struct str got = { 0 };
	if (plan(&t, file, text) < 0)
		unit_fail(__FILE__, __LINE__, "%s: %s", text, t.err.text);
	for (size_t i = 0; i < t.events.list.count; i++)
		str_printf(&got, "%s%s ", t.events.list.items[i].leader == i ? "|" : "", t.events.list.items[i].name);
	for (size_t i = 0; i < t.plan.list.count; i++)
		str_printf(&got, "%s@%u ", t.plan.list.items[i].label, t.plan.list.items[i].shown_at);
	EXPECT_STR(str_text(&got), want);
	close_plan(&t);
}

#define TWO METRIC("big", "page\\\\-faults / cpu\\\\-clock + minor\\\\-faults", ",\"ScaleUnit\":\"100%\",\"MetricGroup\":\"G\"") "," \
	METRIC("small", "minor\\\\-faults / page\\\\-faults", ",\"MetricGroup\":\"H;G\"")

TEST("metrics share the events of the largest one")
{
	expect_plan("[" TWO "]", (struct metric_options){ 0 }, "small,big",
		"|page-faults minor-faults cpu-clock small@0 %  big@0 ");
	expect_plan("[" TWO "]", (struct metric_options){ 0 }, "g", "|page-faults minor-faults cpu-clock small@0 %  big@0 ");
	expect_plan("[" TWO "]", (struct metric_options){ .no_merge = true }, "small,big",
		"|page-faults minor-faults cpu-clock |page-faults minor-faults small@3 %  big@0 ");
	expect_plan("[" TWO "]", (struct metric_options){ .no_group = true }, "h", "|page-faults |minor-faults small@0 ");
	expect_plan("[" TWO "]", (struct metric_options){ 0 }, "small:u", "|page-faults:u minor-faults:u small:u@0 ");
}

TEST("events that the tool measures are outside of the group, and in every group")
{
	expect_plan("[" TWO "," METRIC("rate", "major\\\\-faults / duration_time", "") "]", (struct metric_options){ 0 }, "rate,small",
		"|page-faults minor-faults |duration_time |major-faults |duration_time rate@3 small@0 ");
	expect_plan("[" METRIC("constant", "2 * 3", "") "]", (struct metric_options){ 0 }, "constant", "|duration_time constant@0 ");
}

TEST("a constraint separates the events")
{
	expect_plan("[" METRIC("m", "faults / cs", ",\"MetricConstraint\":\"NO_GROUP_EVENTS\"") "]", (struct metric_options){ 0 }, "m",
		"|faults |cs m@0 ");
	expect_plan("[" METRIC("m", "faults / cs", ",\"MetricGroup\":\"A;B\",\"MetricgroupNoGroup\":\"A\"") "]", (struct metric_options){ 0 },
		"A", "|faults |cs m@0 ");
	expect_plan("[" METRIC("m", "faults / cs", ",\"MetricGroup\":\"A;B\",\"MetricgroupNoGroup\":\"A\"") "]", (struct metric_options){ 0 },
		"B", "|faults cs m@0 ");
}

TEST("a metric and its threshold have the events of the metrics that they name")
{
#define CHAIN "[" METRIC("a", "b * 2 if #num_cpus else cs", ",\"MetricThreshold\":\"a > 1 & c > 2\"") "," \
	METRIC("b", "faults + c", "") "," \
	METRIC("c", "migrations", "") "," METRIC("d", "faults", ",\"MetricThreshold\":\"d > 1 & c > 2\"") "]"
	expect_plan(CHAIN, (struct metric_options){ 0 }, "a", "|migrations faults a@0 ");
	expect_plan(CHAIN, (struct metric_options){ 0 }, "d", "|migrations faults d@0 ");
	expect_plan(CHAIN, (struct metric_options){ .no_threshold = true }, "d", "|faults d@0 ");
}

static void expect_refused(const char *file, const char *text, const char *sentence)
{
	struct planned t = { 0 };
	EXPECT(plan(&t, file, text) < 0);
	EXPECT_STR(t.err.text, sentence);
	EXPECT_INT(t.events.list.count, 0);
	EXPECT_INT(t.plan.list.count, 0);
	close_plan(&t);
}

TEST("wrong metrics are refused with a sentence")
{
	expect_refused("[]", "", "Cannot find metric or group `'");
	expect_refused("[]", ",", "Cannot find metric or group `'");
	expect_refused("[]", "unknown", "Cannot find metric or group `unknown'");
	expect_refused("[" METRIC("x", "1 / y", "") "," METRIC("y", "z", "") "," METRIC("z", "X + 1", "") "]", "x",
		"failed: recursion detected for x");
	expect_refused("[" METRIC("x", "x", "") "]", "x", "failed: recursion detected for x");
	expect_refused("[" METRIC("x", "cs + ", "") "]", "x", "the metric x: an operand is missing at the end of the expression, offset 5");
	expect_refused("[" METRIC("x", "cs", ",\"MetricThreshold\":\"x >\"") "]", "x",
		"the metric x: an operand is missing at the end of the expression, offset 3");
	expect_refused("[" METRIC("x", "cs / no_such_event", "") "]", "x", "the metric x needs the event no_such_event: Bad event name");
}

TEST("references are limited in their depth")
{
	CLEANUP_STR struct str file = { 0 };
	str_puts(&file, "[");
	for (int i = 0; i < 2 * METRIC_REFERENCES_MAX; i++)
		str_printf(&file, METRIC("m%d", "m%d + cs", "") ",", i, i + 1);
	str_puts(&file, METRIC("last", "cs", "") "]");
	expect_refused(file.text, "m0", "the metric m24: more metrics refer to each other than are supported");
}

TEST("perfuse's metrics are sorted by name, and their expressions are correct")
{
	struct events events = { 0 };
	for (const struct metric *own = own_metrics; own->name; own++) {
		struct arena arena = { 0 };
		struct error err = { 0 };
		EXPECT(own == own_metrics || strcmp(own[-1].name, own->name) < 0);
		EXPECT(own->description && own->groups);
		if (!expression_parse(&arena, own->expression, &err) || (own->threshold && !expression_parse(&arena, own->threshold, &err)))
			unit_fail(__FILE__, __LINE__, "%s: %s", own->name, err.text);
		arena_fini(&arena);
	}
	EXPECT(metric_find(&events.pmus, "IPC") != NULL);
	EXPECT(metric_plan_events(&events, metric_find(&events.pmus, "page_fault_rate")) == 0);
	events_fini(&events);
}

TEST("metrics of a machine are possible where it has their events")
{
	struct planned t = { 0 };
	struct metric no = { .name = "no", .expression = "nothing / cs" }, yes = { .name = "yes", .expression = "power@energy\\-pkg@ / cs" };
	plan(&t, "[]", "page_fault_rate");
	EXPECT(metric_plan_events(&t.events, &yes) == 0);
	EXPECT_INT(t.events.list.count, 4);
	EXPECT(metric_plan_events(&t.events, &no) < 0);
	EXPECT_INT(t.events.list.count, 4);
	close_plan(&t);
}

TEST("names are ordered by their places in perf's table")
{
	struct planned_name names[] = { { .name = "CPU_CLK_UNHALTED.THREAD" }, { .name = "INST_RETIRED.ANY" } };
	metric_order_names(names, 2);
	EXPECT_STR(names[0].name, "INST_RETIRED.ANY");
	struct planned_name three[] = { { .name = "cycles" }, { .name = "msr/aperf/" }, { .name = "msr/smi/" } };
	metric_order_names(three, 3);
	EXPECT_STR(three[0].name, "msr/smi/");
	EXPECT_STR(three[1].name, "msr/aperf/");
	EXPECT_STR(three[2].name, "cycles");
	EXPECT_INT(metric_tool("duration_time"), 1);
	EXPECT_INT(metric_tool("cycles"), 0);
}

TEST("literals are numbers of this machine, others are unknown")
{
	struct metric_target all = { .system_wide = true };
	EXPECT(metric_literal("#num_cpus", &all, 0) >= 1);
	EXPECT(metric_literal("#num_cores", &all, 0) >= 1);
	EXPECT(metric_literal("#NUM_CPUS_ONLINE", &all, 0) >= 1);
	EXPECT(metric_literal("#num_packages", &all, 0) >= 1);
	EXPECT(metric_literal("#slots", &all, 8) == 8);
	EXPECT(isnan(metric_literal("#slots", &all, 0)));
	EXPECT(isnan(metric_literal("#other", &all, 0)));
	EXPECT(metric_literal("#core_wide", &(struct metric_target){ 0 }, 0) == 0);
	EXPECT(metric_literal("#core_wide", &all, 0) == 1);
	EXPECT(metric_literal("#target_cpu", &(struct metric_target){ 0 }, 0) == 0);
	EXPECT(metric_literal("#target_cpu", &all, 0) == 1);
	EXPECT(metric_literal("#target_cpu", &(struct metric_target){ .cpus_given = true }, 0) == 1);
}
