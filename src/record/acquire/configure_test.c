#include "record/acquire/configure.h"

#include "unit.h"

static const struct target command_target = { .command = true };
static const struct target system_target = { .system_wide = true };

static const struct sampling usual = { .freq = SAMPLING_FREQ_DEFAULT, .regs_mask = 0xff };

static struct events configured(const char *text, const struct sampling *sampling, const struct target *target)
{
	struct events events = { 0 };
	struct error err;
	EXPECT(events_parse(&events, text, NULL) == 0);
	configure_defaults(&events, sampling, target);
	if (configure_events(&events, sampling, target, NULL, &err) < 0)
		unit_fail(__FILE__, __LINE__, "%s: %s", text, err.text);
	return events;
}

/* Declares the configured events of a text, freed at the end of their scope. */
#define CONFIGURED(name, text, sampling, target)                                                   \
	__attribute__((cleanup(events_fini))) struct events name = configured(text, &(sampling), &(target))

TEST("one event of a command carries no id, follows processes and starts at the exec")
{
	CONFIGURED(events, "cpu-clock", usual, command_target);
	const struct attr *attr = &events.list.items[0].attr;
	EXPECT_INT(attr->sample_type, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD);
	EXPECT(attr_flag(attr, ATTR_ENABLE_ON_EXEC) && attr_flag(attr, ATTR_DISABLED) && attr_flag(attr, ATTR_INHERIT));
	EXPECT(attr_flag(attr, ATTR_MMAP2) && attr_flag(attr, ATTR_COMM_EXEC) && attr_flag(attr, ATTR_FREQ));
}

TEST("several events of one layout carry ids, of several layouts identifiers")
{
	CONFIGURED(events, "cpu-clock,faults", usual, command_target);
	EXPECT(events.list.items[1].attr.sample_type & SAMPLE_ID);
	EXPECT(!attr_flag(&events.list.items[1].attr, ATTR_MMAP));
	CONFIGURED(others, "cpu-clock,faults/period=3/", usual, command_target);
	EXPECT(others.list.items[0].attr.sample_type & SAMPLE_IDENTIFIER);
	EXPECT(!(others.list.items[1].attr.sample_type & (SAMPLE_ID | SAMPLE_PERIOD)));
}

TEST("on whole CPUs, a separate event carries side-band")
{
	struct sampling s = usual;
	s.call_graph = CALL_GRAPH_FP;
	CONFIGURED(events, "cpu-clock", s, system_target);
	EXPECT_INT(events.list.count, 2);
	const struct attr *clock = &events.list.items[0].attr, *follower = &events.list.items[1].attr;
	EXPECT(events.list.items[1].follower);
	EXPECT(clock->sample_type & SAMPLE_CALLCHAIN && !(follower->sample_type & SAMPLE_CALLCHAIN));
	EXPECT(!attr_flag(clock, ATTR_MMAP) && attr_flag(follower, ATTR_MMAP));
	EXPECT(attr_flag(clock, ATTR_DISABLED) && !attr_flag(follower, ATTR_DISABLED));
	EXPECT(clock->sample_type & SAMPLE_CPU && clock->sample_type & SAMPLE_IDENTIFIER);
}

TEST("members of a group that is read together do not sample themselves")
{
	CONFIGURED(events, "{cpu-clock,faults}:S", usual, command_target);
	const struct attr *leader = &events.list.items[0].attr, *member = &events.list.items[1].attr;
	EXPECT(leader->read_format & READ_GROUP && member->read_format & READ_GROUP);
	EXPECT_INT(member->sample_period, 0);
	EXPECT(leader->sample_period != 0 && leader->sample_type & SAMPLE_READ);
	EXPECT(!attr_flag(member, ATTR_DISABLED) && !attr_flag(leader, ATTR_INHERIT));
}

TEST("stacks for DWARF unwinding come with registers and data mappings")
{
	struct sampling s = usual;
	s.call_graph = CALL_GRAPH_DWARF;
	s.stack_size = 4096;
	CONFIGURED(events, "cpu-clock", s, command_target);
	const struct attr *attr = &events.list.items[0].attr;
	EXPECT(attr->sample_type & SAMPLE_STACK_USER && attr->sample_type & SAMPLE_REGS_USER && attr->sample_type & SAMPLE_ADDR);
	EXPECT_INT(attr->sample_stack_user, 4096);
	EXPECT_INT(attr->sample_regs_user, 0xff);
	EXPECT(attr_flag(attr, ATTR_MMAP_DATA) && attr_flag(attr, ATTR_EXCLUDE_CALLCHAIN_USER));
}

TEST("mappings of data are recorded as the user chooses, otherwise with addresses of data")
{
	static const struct { bool address, maps, given; int recorded; } rows[] = {
		{ false, false, false, 0 }, { true, false, false, 1 }, { true, false, true, 0 }, { false, true, true, 1 }, { true, true, true, 1 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sampling s = usual;
		s.address = rows[i].address;
		s.data_maps = rows[i].maps;
		s.data_maps_given = rows[i].given;
		CONFIGURED(events, "cpu-clock", s, command_target);
		const struct attr *attr = &events.list.items[0].attr;
		EXPECT_INT(attr_flag(attr, ATTR_MMAP_DATA), rows[i].recorded);
		EXPECT_INT((attr->sample_type & SAMPLE_ADDR) != 0, rows[i].address);
	}
}

TEST("one event's stacks for DWARF unwinding change no other event, and add data mappings if that event carries side-band")
{
	CONFIGURED(events, "cpu-clock/call-graph=dwarf/,faults/call-graph=fp/", usual, command_target);
	const struct attr *first = &events.list.items[0].attr, *second = &events.list.items[1].attr;
	EXPECT(first->sample_type & SAMPLE_ADDR && first->sample_type & SAMPLE_DATA_SRC && attr_flag(first, ATTR_MMAP_DATA));
	EXPECT(!(second->sample_type & (SAMPLE_ADDR | SAMPLE_DATA_SRC)) && second->sample_type & SAMPLE_CALLCHAIN);
	CONFIGURED(others, "cpu-clock/call-graph=fp/,faults/call-graph=dwarf/", usual, command_target);
	first = &others.list.items[0].attr, second = &others.list.items[1].attr;
	EXPECT(!(first->sample_type & (SAMPLE_ADDR | SAMPLE_DATA_SRC)) && !attr_flag(first, ATTR_MMAP_DATA));
	EXPECT(second->sample_type & SAMPLE_ADDR && !attr_flag(second, ATTR_MMAP_DATA));
}

TEST("the rate of all samples that are unwound determines the size of their copies, unless the user or the event chose it")
{
	static const struct { const char *events; uint64_t freq, most; bool given; uint32_t size; } rows[] = {
		{ "cpu-clock", 999, 1 << 20, false, 65528 }, { "cpu-clock", 999, 32768, false, 32768 }, { "cpu-clock", 4000, 1 << 20, false, 16776 },
		{ "cpu-clock,task-clock", 4000, 1 << 20, false, 8384 }, { "cpu-clock", 20000, 1 << 20, false, 8192 },
		{ "cpu-clock", 999, 1 << 20, true, 8192 }, { "cpu-clock", 999, 0, false, 8192 },
		{ "cpu-clock/call-graph=unwind,stack-size=4096/", 999, 1 << 20, false, 4096 },
		{ "cpu-clock,task-clock/period=1000/", 999, 1 << 20, false, 8192 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct sampling s = usual;
		s.call_graph = CALL_GRAPH_UNWIND;
		s.stack_size = 8192;
		s.freq = rows[i].freq;
		s.stack_most = rows[i].most;
		s.stack_given = rows[i].given;
		CONFIGURED(events, rows[i].events, s, command_target);
		EXPECT_INT(events.list.items[0].attr.sample_stack_user, rows[i].size);
		EXPECT_INT(configure_stack_bytes(&events), rows[i].size);
	}
}

TEST("stacks that the recorder unwinds are copied by the kernel and are call chains in the file")
{
	struct sampling s = usual;
	s.call_graph = CALL_GRAPH_UNWIND;
	s.stack_size = 8192;
	s.no_time = true;
	CONFIGURED(events, "cpu-clock,task-clock/call-graph=fp/", s, command_target);
	const struct event *event = &events.list.items[0];
	EXPECT(event->unwind && configure_unwinds(&events) && !events.list.items[1].unwind);
	EXPECT(event->attr.sample_type & SAMPLE_TIME && events.list.items[1].attr.sample_type & SAMPLE_TIME);
	EXPECT(event->attr.sample_type & SAMPLE_STACK_USER && !(event->attr.sample_type & SAMPLE_ADDR));
	EXPECT(!(events.list.items[1].attr.sample_type & SAMPLE_STACK_USER));
	struct attr written = configure_written(event);
	EXPECT_INT(written.sample_type, event->attr.sample_type);
	EXPECT(written.sample_stack_user == 8192 && written.sample_regs_user == event->attr.sample_regs_user);
	EXPECT(attr_flag(&event->attr, ATTR_EXCLUDE_CALLCHAIN_USER) && !attr_flag(&written, ATTR_EXCLUDE_CALLCHAIN_USER));
	s.regs_user = 0x180;
	CONFIGURED(others, "cpu-clock", s, command_target);
	written = configure_written(&others.list.items[0]);
	EXPECT(others.list.items[0].keeps_registers && (written.sample_regs_user & 0x180) == 0x180);
	s.regs_user = 0;
	s.kernel_callchains = true;
	CONFIGURED(third, "cpu-clock", s, command_target);
	EXPECT(!third.list.items[0].unwind && !(third.list.items[0].attr.sample_type & SAMPLE_STACK_USER));
}

TEST("the terms of an event override the options")
{
	struct sampling s = usual;
	s.call_graph = CALL_GRAPH_DWARF;
	s.stack_size = 8192;
	CONFIGURED(events, "cpu-clock/call-graph=no,period=7,time=0,no-inherit/", s, command_target);
	const struct attr *attr = &events.list.items[0].attr;
	EXPECT_INT(attr->sample_period, 7);
	EXPECT(!attr_flag(attr, ATTR_FREQ) && !attr_flag(attr, ATTR_INHERIT));
	EXPECT(!(attr->sample_type & (SAMPLE_CALLCHAIN | SAMPLE_STACK_USER | SAMPLE_TIME | SAMPLE_PERIOD)));
}

TEST("a rate of the user's also applies to events with a default period")
{
	struct sampling s = usual;
	CONFIGURED(events, "mem:0x1000:rw", s, command_target);
	EXPECT_INT(events.list.items[0].attr.sample_period, 1);
	s.freq = 99;
	s.rate_given = true;
	CONFIGURED(others, "mem:0x1000:rw", s, command_target);
	EXPECT_INT(others.list.items[0].attr.sample_period, 99);
	EXPECT(attr_flag(&others.list.items[0].attr, ATTR_FREQ));
}

TEST("with a ring per thread, samples have no times and events are not inherited")
{
	const struct target target = { .attached = true, .per_thread = true };
	CONFIGURED(events, "cpu-clock", usual, target);
	EXPECT(!(events.list.items[0].attr.sample_type & SAMPLE_TIME) && !attr_flag(&events.list.items[0].attr, ATTR_INHERIT));
}

TEST("registers are known by their names on this machine, and no others")
{
	struct error err;
	uint64_t mask = 0, all = 0;
	if (registers_parse(NULL, true, &all, &err) < 0) {
		unit_skip("this machine's registers have no names");
		return;
	}
	EXPECT(all == registers_for_dwarf());
	EXPECT((registers_minimal() & ~all) == 0);
	EXPECT_INT(__builtin_popcountll(registers_minimal()), 2);
	EXPECT(registers_parse("IP", true, &mask, &err) < 0 || (registers_minimal() & mask) == mask);
	EXPECT(registers_parse("SP", true, &mask, &err) < 0 || (registers_minimal() & mask) == mask);
	EXPECT(registers_parse("nosuchregister", true, &mask, &err) < 0);
}

TEST("an event that was added to record processes does so early, and on all CPUs if samples are wanted of some")
{
	static const struct target some = { .system_wide = true, .cpus_given = true };
	static const struct {
		const struct target *target;
		bool early, everywhere;
	} rows[] = { { &command_target, false, false }, { &system_target, true, false }, { &some, true, true } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct events events = { 0 };
		EXPECT(events_parse(&events, "page-faults:u", NULL) == 0);
		uint32_t follower = events_add_follower(&events);
		bool before = events.list.items[follower].tracks_early;
		configure_defaults(&events, &usual, rows[i].target);
		EXPECT_INT(events.list.count, 2);
		EXPECT_INT(events.list.items[follower].tracks_early, before || rows[i].early);
		EXPECT_INT(events.list.items[follower].everywhere, rows[i].everywhere);
		events_fini(&events);
	}
}
