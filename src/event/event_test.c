#include "event/event.h"

#include <stdlib.h>

#include "event/event_names.h"
#include "event/event_pfm.h"
#include "event/pfm_library.h"
#include "unit.h"

#define FLAG(name) ((uint64_t)1 << (name))

static struct event parse_last(struct events *events, const char *text)
{
	struct event_error err;
	if (events_parse(events, text, &err) < 0) {
		unit_fail(__FILE__, __LINE__, "\"%s\" is rejected: %s", text, err.what);
		return (struct event){ .name = "" };
	}
	return events->list.items[events->list.count - 1];
}

static uint64_t exclusion_bits(const char *text)
{
	struct events events = { 0 };
	struct event event = parse_last(&events, text);
	uint64_t mask = FLAG(ATTR_EXCLUDE_USER) | FLAG(ATTR_EXCLUDE_KERNEL) | FLAG(ATTR_EXCLUDE_HV) | FLAG(ATTR_EXCLUDE_HOST) |
		FLAG(ATTR_EXCLUDE_GUEST);
	events_fini(&events);
	return event.attr.flags & mask;
}

static void expect_error_at(const char *text, size_t at)
{
	struct events events = { 0 };
	struct event_error err;
	if (events_parse(&events, text, &err) == 0)
		unit_fail(__FILE__, __LINE__, "\"%s\" is accepted", text);
	else if (err.at != at)
		unit_fail(__FILE__, __LINE__, "\"%s\" is rejected at %zu, expected %zu (%s)", text, err.at, at, err.what);
	EXPECT_INT(events.list.count, 0);
	events_fini(&events);
}

TEST("software and hardware events are known by name and alias")
{
	struct events events = { 0 };
	EXPECT_INT(parse_last(&events, "cs").attr.config, 3);
	EXPECT_INT(parse_last(&events, "context-switches").attr.type, ATTR_SOFTWARE);
	EXPECT_INT(parse_last(&events, "cycles").attr.type, ATTR_HARDWARE);
	EXPECT_INT(parse_last(&events, "branches").attr.config & 0xffffffff, 4);
	EXPECT_STR(parse_last(&events, "faults:u").name, "faults:u");
	EXPECT_STR(parse_last(&events, "cpu-clock").unit, "msec");
	events_fini(&events);
}

TEST("a modifier for one side excludes the other sides")
{
	EXPECT_INT(exclusion_bits("cpu-clock"), FLAG(ATTR_EXCLUDE_GUEST));
	EXPECT_INT(exclusion_bits("cpu-clock:u"), FLAG(ATTR_EXCLUDE_KERNEL) | FLAG(ATTR_EXCLUDE_HV) | FLAG(ATTR_EXCLUDE_GUEST));
	EXPECT_INT(exclusion_bits("cpu-clock:k"), FLAG(ATTR_EXCLUDE_USER) | FLAG(ATTR_EXCLUDE_HV));
	EXPECT_INT(exclusion_bits("cpu-clock:ukh"), FLAG(ATTR_EXCLUDE_GUEST));
	EXPECT_INT(exclusion_bits("cpu-clock:h"), FLAG(ATTR_EXCLUDE_USER) | FLAG(ATTR_EXCLUDE_KERNEL));
	EXPECT_INT(exclusion_bits("cpu-clock:G"), FLAG(ATTR_EXCLUDE_HOST));
	EXPECT_INT(exclusion_bits("cpu-clock:GH"), 0);
	EXPECT_INT(exclusion_bits("cpu-clock:D"), 0);
	EXPECT_INT(exclusion_bits("cpu-clock:p"), FLAG(ATTR_EXCLUDE_GUEST));
	EXPECT_INT(exclusion_bits("cpu-clock:P"), 0);
}

TEST("modifiers of an event group add to those of its events")
{
	struct events events = { 0 };
	parse_last(&events, "{cpu-clock:u,faults}:k");
	const struct event *list = events.list.items;
	EXPECT(!attr_flag(&list[0].attr, ATTR_EXCLUDE_USER) && !attr_flag(&list[0].attr, ATTR_EXCLUDE_KERNEL));
	EXPECT(attr_flag(&list[1].attr, ATTR_EXCLUDE_USER) && attr_flag(&list[1].attr, ATTR_EXCLUDE_GUEST));
	EXPECT_INT(list[0].members, 2);
	EXPECT_INT(list[1].leader, 0);
	EXPECT_STR(list[0].name, "cpu-clock:u");
	events_fini(&events);
}

TEST("the weak modifier is one of an event group, and precision is added up to 3")
{
	struct events events = { 0 };
	EXPECT(!parse_last(&events, "{cpu-clock:p,faults}").weak);
	EXPECT(parse_last(&events, "{cpu-clock:p,faults}:Wp").weak);
	const struct event *list = events.list.items;
	EXPECT_INT(attr_precise_ip(&list[0].attr), 1);
	EXPECT_INT(attr_precise_ip(&list[1].attr), 0);
	EXPECT_INT(attr_precise_ip(&list[2].attr), 2);
	EXPECT_INT(attr_precise_ip(&list[3].attr), 1);
	EXPECT(list[2].weak && list[3].weak);
	struct event pinned = parse_last(&events, "cpu-clock:D");
	EXPECT_INT(attr_precise_ip(&pinned.attr), 0);
	events_fini(&events);
	expect_error_at("{cpu-clock:pp}:pp", 15);
}

TEST("an event group can have a name and can be between other events")
{
	struct events events = { 0 };
	parse_last(&events, "cs,grp{cpu-clock,faults}:S,migrations");
	const struct event *list = events.list.items;
	EXPECT_INT(events.list.count, 4);
	EXPECT_STR(list[1].group_name, "grp");
	EXPECT_INT(list[1].members, 2);
	EXPECT_INT(list[2].leader, 1);
	EXPECT(list[1].sample_read && list[2].sample_read && !list[3].sample_read);
	EXPECT_INT(list[3].leader, 3);
	events_fini(&events);
}

TEST("terms between slashes are applied, and the last of period and freq wins")
{
	struct events events = { 0 };
	struct event event = parse_last(&events, "cpu-clock/freq=99,period=0x10,call-graph=dwarf,stack-size=4096,no-inherit,name='a-b:c'/u");
	EXPECT(event.terms.set & EVENT_TERM_PERIOD && !(event.terms.set & EVENT_TERM_FREQ));
	EXPECT_INT(event.terms.period, 16);
	EXPECT_STR(event.terms.call_graph, "dwarf");
	EXPECT_INT(event.terms.stack_size, 4096);
	EXPECT(event.terms.set & EVENT_TERM_INHERIT && !event.terms.inherit);
	EXPECT_STR(event.name, "a-b:c");
	EXPECT(attr_flag(&event.attr, ATTR_EXCLUDE_KERNEL));
	EXPECT_STR(parse_last(&events, "cpu-clock/period=5/").name, "cpu-clock/period=5/");
	EXPECT_INT(parse_last(&events, "software/config=2/").attr.config, 2);
	events_fini(&events);
}

TEST("terms that concern samples are errors where events are counted")
{
	static const char *const refused[] = {
		"cpu-clock/freq=99/", "cpu-clock/no-inherit/", "cpu-clock/name=x,call-graph=fp/", "faults/overwrite/",
	};
	struct events events = { .counts = true };
	struct event_error err;
	EXPECT(parse_last(&events, "cpu-clock/period=5,name=x,percore/").terms.set & EVENT_TERM_PERCORE);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if (events_parse(&events, refused[i], &err) == 0 || !strstr(err.what, "is not usable in 'perf stat'"))
			unit_fail(__FILE__, __LINE__, "\"%s\" is not refused as a term of samples: %s", refused[i], err.what);
	EXPECT(events_parse(&events, "cpu-clock/foo/", &err) < 0);
	EXPECT_STR(err.help, "valid terms: config,config1,config2,config3,name,period,percore,metric-id");
	EXPECT_INT(events.list.count, 1);
	events_fini(&events);
}

TEST("breakpoints have an address, a length and an access")
{
	struct events events = { 0 };
	struct event event = parse_last(&events, "mem:0x1000:rw:u");
	EXPECT_INT(event.attr.type, ATTR_BREAKPOINT);
	EXPECT_INT(event.attr.bp_type, 3);
	EXPECT_INT(event.attr.config1, 0x1000);
	EXPECT_INT(event.attr.config2, 4);
	EXPECT_STR(event.name, "mem:0x1000:rw:u");
	event = parse_last(&events, "mem:0x1000/8:w");
	EXPECT_INT(event.attr.config2, 8);
	EXPECT_INT(event.attr.bp_type, 2);
	EXPECT_STR(event.name, "mem:0x1000");
	event = parse_last(&events, "mem:0x1000:x");
	EXPECT_INT(event.attr.config2, sizeof(long));
	events_fini(&events);
}

TEST("raw codes and cache events become config words")
{
	struct events events = { 0 };
	uint64_t config;
	EXPECT_INT(parse_last(&events, "r1a").attr.config, 0x1a);
	EXPECT_INT(parse_last(&events, "L1-dcache-load-misses").attr.config & 0xffffffff, 0x10000);
	EXPECT_INT(event_cache_find("LLC-stores", 10, &config), 1);
	EXPECT_INT(config, 0x102);
	EXPECT_INT(event_cache_find("l1d-read-refs", 13, &config), 1);
	EXPECT_INT(config, 0);
	EXPECT_INT(event_cache_find("L1-icache-stores", 16, &config), -1);
	EXPECT_INT(event_cache_find("L1-dcache-foo", 13, &config), 0);
	events_fini(&events);
}

TEST("a cache event has perf's name")
{
	char name[64];
	EXPECT(event_cache_name(0x10000, name, sizeof name));
	EXPECT_STR(name, "L1-dcache-load-misses");
	EXPECT(event_cache_name(0x102, name, sizeof name));
	EXPECT_STR(name, "LLC-stores");
	EXPECT(!event_cache_name(0x7, name, sizeof name));
}

TEST("an invalid event is rejected with its offset")
{
	expect_error_at("xyz", 0);
	expect_error_at("cpu-clock,xyz", 10);
	expect_error_at("cpu-clock:uu", 11);
	expect_error_at("cpu-clock:pppp", 13);
	expect_error_at("cpu-clock:W", 10);
	expect_error_at("cpu-clock/foo/", 10);
	expect_error_at("cpu-clock/period=abc/", 17);
	expect_error_at("cpu-clock/time=2/", 15);
	expect_error_at("cpu-clock/period=5", 16);
	expect_error_at("cpu-clock,", 0);
	expect_error_at(",cpu-clock", 0);
	expect_error_at("{}", 0);
	expect_error_at("cpu-clock}", 0);
	expect_error_at("{a,b", 1);
	expect_error_at("mem:xx", 0);
	expect_error_at("mem:0x1000/8/", 12);
	expect_error_at("cycles:q", 6);
	expect_error_at("cycles:uq", 6);
	expect_error_at("cycles:u:k", 7);
	expect_error_at("cycles bogus", 6);
	expect_error_at("cpu-clock:u,,cycles", 11);
	expect_error_at("{cycles,}", 7);
	expect_error_at("{cycles,{instructions}}", 8);
	expect_error_at("cpu-clock//u:k", 11);
	expect_error_at("cycles/u", 6);
	expect_error_at("sched:", 0);
	expect_error_at("nosuchsystem:nosuchevent", 0);
	expect_error_at("", 0);
}

TEST("a syntax error is shown with a mark below its offset")
{
	struct events events = { 0 };
	struct event_error err;
	struct writer out;
	writer_open(&out, -1, 0);
	EXPECT(events_parse(&events, "cpu-clock/period=abc/", &err) < 0);
	event_error_print(&err, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "event syntax error: '..ock/period=abc/'\n                                  \\___ expected numeric value\n");
	writer_fini(&out);
	events_fini(&events);
}

TEST("the name of an attribute contains its modifiers")
{
	struct attr attr = { .type = ATTR_SOFTWARE, .config = 1, .flags = (uint64_t)3 << ATTR_PRECISE_IP };
	struct str name = { 0 };
	event_name_of(&attr, &name);
	EXPECT_STR(str_text(&name), "task-clock:ppp");
	str_clear(&name);
	attr.flags = FLAG(ATTR_EXCLUDE_GUEST);
	event_name_of(&attr, &name);
	EXPECT_STR(str_text(&name), "task-clock");
	str_clear(&name);
	attr.flags |= FLAG(ATTR_EXCLUDE_KERNEL) | FLAG(ATTR_EXCLUDE_HV);
	event_name_of(&attr, &name);
	EXPECT_STR(str_text(&name), "task-clock:uH");
	str_fini(&name);
}

TEST("the format of a PMU distributes a value over its bits")
{
	struct pmu_format format = { .name = "event", .word = 0, .bits = 0xf000000ff };
	struct attr attr = { 0 };
	EXPECT(pmu_format_apply(&format, 0xabc, &attr));
	EXPECT_INT(attr.config, 0xa000000bcll);
	EXPECT_INT(pmu_format_max(&format), 0xfff);
	EXPECT(!pmu_format_apply(&format, 0x1000, &attr));
}

TEST("call-graph modes and branch filters are parsed")
{
	enum call_graph mode;
	uint64_t size = 0, mask;
	uint32_t depth = 0;
	EXPECT(call_graph_parse("dwarf,4095", &mode, &size, &depth, NULL) == 0 && mode == CALL_GRAPH_DWARF && size == 4096);
	EXPECT(call_graph_parse("fp,32", &mode, &size, &depth, NULL) == 0 && mode == CALL_GRAPH_FP && depth == 32);
	EXPECT(call_graph_parse("fp,4294967295", &mode, &size, &depth, NULL) == 0 && depth == 32); /* deeper than any kernel allows: ignored */
	EXPECT(call_graph_parse("fp,deep", &mode, &size, &depth, NULL) == 0 && depth == 32);
	EXPECT(call_graph_parse("unwind,4095", &mode, &size, &depth, NULL) == 0 && mode == CALL_GRAPH_UNWIND && size == 4096);
	EXPECT(call_graph_parse("lbr", &mode, &size, &depth, NULL) == 0 && mode == CALL_GRAPH_LBR);
	EXPECT(call_graph_parse("xx", &mode, &size, &depth, NULL) < 0);
	EXPECT(call_graph_parse("dwarf,99999999", &mode, &size, &depth, NULL) < 0);
	EXPECT(branch_filter_parse("any,u", &mask, NULL) == 0 && mask == (BRANCH_ANY | BRANCH_USER));
	EXPECT(branch_filter_parse("u", &mask, NULL) == 0 && mask == (BRANCH_ANY | BRANCH_USER));
	EXPECT(branch_filter_parse("zz", &mask, NULL) < 0);
}

TEST("of libpfm4's names those of the processor are events, not those of generic events")
{
	struct events events = { 0 };
	struct pfm_functions pfm;
	struct error err = { 0 };
	if (pfm_open(&pfm, &err) < 0) {
		unit_skip(err.text);
		return;
	}
	EXPECT(events_add_pfm(&events, "perf_raw::r1a8"));
	EXPECT_INT(events.list.count, 1);
	if (!events.list.count)
		return;
	EXPECT_INT(events.list.items[0].attr.type, ATTR_RAW);
	EXPECT_INT(events.list.items[0].attr.config, 0x1a8);
	EXPECT(!events_add_pfm(&events, "PERF_COUNT_SW_PAGE_FAULTS"));
	EXPECT(!events_add_pfm(&events, "nothing"));
	EXPECT_INT(events.list.count, 1);
	events_fini(&events);
}
