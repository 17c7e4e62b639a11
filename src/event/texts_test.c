/* Texts of -e on a machine with known PMUs: what each event is, or its error. All of it is stored, see stored.h. */
#include "event/catalogue.h"
#include "event/test_machine.h"
#include "stored.h"

static const char *const texts[] = {
	/* symbols, modifiers */
	"cycles", "cpu-cycles:u", "instructions:k", "cache-references:h", "cache-misses:uk", "branches:ukh", "branch-instructions:H",
	"branch-misses:G", "bus-cycles:HG", "stalled-cycles-frontend:p", "idle-cycles-frontend:pp", "stalled-cycles-backend:ppp",
	"idle-cycles-backend:pppp", "ref-cycles:P", "cpu-clock", "task-clock:u", "page-faults", "faults:k", "context-switches", "cs",
	"cpu-migrations", "migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy:u", "bpf-output",
	"cgroup-switches", "duration_time", "user_time", "system_time", "cycles:D", "cycles:S", "cycles:I", "cycles:e", "cycles:W",
	"cycles:b", "cycles:R", "cycles:uDIe", "cycles:uu", "cycles:x", "cycles:", "cycles:ukx", "cs:upk", "cycles:uHp", "CYCLES", "cycle",
	/* groups */
	"{cycles,instructions}", "{cycles,instructions}:S", "{cycles:u,instructions:k}:H", "{cycles,cs}:W", "g:{cycles,cs}", "{cycles}", "{}",
	"{cycles", "cycles}", "{cycles,{cs}}", "cycles,cs,faults", "cycles,", ",cycles", "cycles,,cs", "{cycles,cs},faults,{dummy}",
	"{cs,power/energy-pkg/}", "{cycles:p,cs}:ppp", "{cycles:p,cs}:pppp", " cycles , cs ",
	/* raw, caches, breakpoints */
	"r1a8", "r0", "rffffffffffffffff", "r1ffffffffffffffff0", "r", "rxyz", "r1a8:u", "L1-dcache-loads", "L1-dcache-load-misses",
	"l1d-read-miss", "L1-icache-prefetches", "LLC-stores:u", "LLC-store-misses", "dTLB-load-misses", "iTLB-loads", "branch-load-misses",
	"node-loads", "node-prefetch-misses", "iTLB-stores", "L1-dcache", "L2-prefetch-refs", "L1-dcache-loads-loads", "mem:0x1000",
	"mem:0x1000:r", "mem:0x1000:w", "mem:0x1000:rw", "mem:0x1000/4", "mem:0x1000/8:rw:u", "mem:0x1000/1:x", "mem:0",
	"mem:x", "mem:0x1000/", "mem:0x1000:q", "mem:0x1000:rr", "mem:0x1000/2:w:k",
	/* PMUs and terms */
	"cpu_core/slots/", "cpu_core/event=0x3c/", "cpu_core/event=0x3c,umask=0x1/u", "cpu_core/event=0x1ff/", "cpu_core/umask=256/",
	"cpu_core/inv/", "cpu_core/inv=1/", "cpu_core/inv=2/", "cpu_core/ldlat=65535/", "cpu_core/ldlat=65536/", "cpu_core/mem-loads/",
	"cpu_core/mem-loads,ldlat=9/", "cpu_core/param/", "cpu_core/param,umask=3/", "cpu_core/param,umask=0x300/", "cpu_core/config=0x1234/",
	"cpu_core/config1=1,config2=2,config3=3/", "cpu_core/r1a8/", "cpu_core/r/", "cpu_core/nosuch/", "cpu_core/event=x/",
	"cpu_core/event=/", "cpu_core/slots,slots/", "cpu_core/cycles/", "cpu_core/cycles,instructions/", "cpu_core/L1-dcache-loads/",
	"cpu_core/L1-dcache-loads,umask=1/", "cpu_core//", "cpu_core/", "cpu_core/slots", "cpu_core/topdown-retiring/",
	"{cpu_core/topdown-retiring/,cpu_core/slots/}", "cpu_atom/mem-loads/", "cpu_atom/event=1/p", "mem-loads", "slots", "SLOTS",
	"topdown-retiring", "power/energy-pkg/", "power/energy-pkg/u", "power/energy-pkg,energy-pkg/", "energy-pkg", "Power/energy-pkg/",
	"uncore_imc/clockticks/", "uncore_imc_0/clockticks/", "imc_2/clockticks/", "imc/event=3/", "uncore_*/event=4/", "clockticks",
	"broken/event=1/", "broken/bad/", "nosuch/event=1/", "software/config=3/", "uprobe/config=1/", "breakpoint/config=1/",
	"cpu*/event=1/", "imc_9/event=1/", "cpu_core/event=1/,cs", "cpu_core/event=0xff/,cpu_atom/event=0xff/",
	"cpu_core/event=0x10,event=0x20/",
	/* terms of all events */
	"cpu_core/event=1,name=me/", "cpu_core/event=1,name=a-b.c/", "cpu_core/event=1,period=1000/", "cpu_core/event=1,freq=99/",
	"cycles/period=10,freq=20/", "cycles/freq=20,period=10/", "cycles/time/", "cycles/time=0/", "cycles/time=1/", "cycles/time=2/",
	"cycles/call-graph=fp/", "cycles/call-graph=dwarf,stack-size=1024/", "cycles/call-graph=no/", "cycles/stack-size=64/",
	"cycles/max-stack=3/", "cycles/nr=5/", "cycles/inherit/", "cycles/no-inherit/", "cycles/overwrite/", "cycles/no-overwrite/",
	"cycles/branch_type=any,u/", "cycles/branch_type=no/", "cycles/branch_type=zz/", "cycles/percore/", "cycles/aux-output/",
	"cycles/aux-sample-size=8/", "cycles/metric-id=x/", "cycles/period=x/", "cycles/name=5/", "cycles/nosuch/", "cycles/config=1/",
	"cs/name=x,period=2/ku", "cycles/name=x/,cs", "cycles/", "cycles//", "cycles//u", "cycles/period/", "cycles/period=/",
	"cycles/period=99999999999999999999/", "cycles/@drv/", "cpu_core/@drv/", "cpu_core/event=1,@drv/", "cycles/name='a b'/",
	"cpu_core/cycles,name=x/", "dummy/period=1/", "r1a8/period=3/u",
	"cpu-clock/freq=7,call-graph=fp,max-stack=2,time=1,no-inherit,overwrite/", "",
};

static void add_terms(struct str *to, const struct event *event)
{
	const struct event_terms *t = &event->terms;
	const struct { const char *name; uint64_t value; } values[] = { { "period", t->period }, { "freq", t->freq }, { "stack", t->stack_size },
		{ "frames", t->max_stack }, { "nr", t->max_events }, { "aux", t->aux_sample_size }, { "branch", t->branch }, { "time", t->time },
		{ "inherit", t->inherit }, { "overwrite", t->overwrite }, { "percore", t->percore }, { "output", t->aux_output } };
	str_printf(to, " terms %x", t->set);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (values[i].value)
			str_printf(to, " %s=%llx", values[i].name, (unsigned long long)values[i].value);
	const char *const words[] = { t->call_graph, t->driver, t->metric_id };
	for (size_t i = 0; i < 3; i++)
		if (words[i])
			str_printf(to, " '%s'", words[i]);
}

static void add_event(struct str *to, const struct event *event)
{
	const struct attr *a = &event->attr;
	str_printf(to, "  %s pmu %s type %u config %llx", event->name, event->pmu ? event->pmu : "-", a->type, (unsigned long long)a->config);
	const struct { const char *name; uint64_t value; } values[] = { { "1", a->config1 }, { "2", a->config2 }, { "3", a->config3 },
		{ "4", a->config4 }, { "flags", a->flags }, { "bp", a->bp_type }, { "period", a->sample_period }, { "chosen", event->chosen },
		{ "members", event->members }, { "leader", event->leader }, { "cpus", event->cpus ? event->cpus->list.count : 0 },
		{ "gh", event->exclude_gh }, { "S", event->sample_read }, { "P", event->precise_max }, { "W", event->weak },
		{ "b", event->bpf_counter }, { "R", event->retire_latency }, { "pkg", event->per_package }, { "snapshot", event->snapshot },
		{ "traces", event->traces }, { "vendor", event->period_is_vendors } };
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (values[i].value)
			str_printf(to, " %s=%llx", values[i].name, (unsigned long long)values[i].value);
	if (event->group_name)
		str_printf(to, " group '%s'", event->group_name);
	if (event->unit || event->scale != 1)
		str_printf(to, " in %g %s", event->scale, event->unit ? event->unit : "-");
	if (event->terms.set)
		add_terms(to, event);
	CLEANUP_STR struct str own = { 0 };
	event_name_of(a, &own);
	str_printf(to, " is %s\n", str_text(&own));
}

static void add_text(struct str *to, const struct pmus *machine, const char *text, bool counts)
{
	struct events events = { .counts = counts, .pmus.root = machine->root, .tries = true };
	struct event_error err = { 0 };
	str_printf(to, "%s'%s'\n", counts ? "counted: " : "", text);
	if (events_parse(&events, text, &err) < 0)
		str_printf(to, "  ! %zu%s%s\n", err.at, err.what[0] ? " " : "", err.what);
	for (size_t i = 0; i < events.list.count; i++)
		add_event(to, &events.list.items[i]);
	if (events.by_pattern || events.regrouped)
		str_printf(to, " %s%s\n", events.by_pattern ? " pattern" : "", events.regrouped ? " regrouped" : "");
	if (!counts && events.list.count) {
		events_name_cores(&events);
		str_printf(to, "  = %s\n", events.list.items[0].name);
	}
	events_fini(&events);
}

TEST("each text of events has its attributes, its names and its terms, or an error at its place")
{
	struct machine machine;
	struct pmus pmus = { 0 };
	CLEANUP_STR struct str got = { 0 };
	machine_open(&machine, &pmus);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		add_text(&got, &pmus, texts[i], false);
		if (strchr(texts[i], '=') && !strchr(texts[i], '{'))
			add_text(&got, &pmus, texts[i], true);
	}
	stored_compare("test/event/texts", &got);
	machine_close(&machine);
}

static void add_texts(struct str *to, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		str_printf(to, "|%s", words[i] ? words[i] : "");
	str_putc(to, '\n');
}

TEST("the catalogue of a machine has all columns of its PMUs, tools, raw forms and breakpoints")
{
	static const enum catalogue_kind kinds[] = { CATALOGUE_TOOL, CATALOGUE_PMU, CATALOGUE_RAW, CATALOGUE_BREAKPOINT };
	struct machine machine;
	struct pmus pmus = { 0 };
	CLEANUP_STR struct str got = { 0 };
	machine_open(&machine, &pmus);
	for (int every = 0; every < 2; every++) {
		struct catalogue c = { .every_pmu = every, .pmus.root = machine.root };
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			EXPECT_INT(catalogue_add(&c, kinds[i], NULL), 0);
		for (size_t i = 0; i < c.list.count; i++) {
			const struct catalogue_event *e = &c.list.items[i];
			const char *const words[] = { e->name, e->alias, e->pmu, e->topic, e->type_text, e->scale_unit, e->description,
				e->long_description, e->encoding, e->deprecated ? "old" : NULL, e->core ? "core" : NULL };
			str_printf(&got, "%d", (int)e->kind);
			add_texts(&got, words, sizeof words / sizeof *words);
		}
		catalogue_fini(&c);
	}
	stored_compare("test/event/catalogue", &got);
	machine_close(&machine);
}

TEST("the name of an attribute is that of its event, its cache or its number, with its modifiers")
{
	static const struct {
		struct attr attr;
		const char *name;
	} rows[] = {
		{ { .type = ATTR_HARDWARE, .config = 0 }, "cycles:HG" }, { { .type = ATTR_HARDWARE, .config = 9 }, "ref-cycles:HG" },
		{ { .type = ATTR_HARDWARE, .config = 0x400000001 }, "instructions:HG" },
		{ { .type = ATTR_HARDWARE, .config = 10 }, "unknown attr type: 0:HG" },
		{ { .type = ATTR_SOFTWARE, .config = 2 }, "page-faults:HG" }, { { .type = ATTR_HW_CACHE, .config = 0x10002 }, "LLC-load-misses:HG" },
		{ { .type = ATTR_HW_CACHE, .config = 0x99 }, "unknown attr type: 3:HG" }, { { .type = ATTR_RAW, .config = 0x1a8 }, "raw 0x1a8:HG" },
		{ { .type = 77 }, "unknown attr type: 77:HG" },
	};
	static const struct {
		uint64_t flags;
		const char *modifiers;
	} sides[] = {
		{ 1u << ATTR_EXCLUDE_GUEST, "" }, { 1u << ATTR_EXCLUDE_HOST, ":G" }, { 0, ":HG" },
		{ 1u << ATTR_EXCLUDE_KERNEL | 1u << ATTR_EXCLUDE_HV, ":u" }, { 1u << ATTR_EXCLUDE_USER | 1u << ATTR_EXCLUDE_HV, ":k" },
		{ 1u << ATTR_EXCLUDE_USER | 1u << ATTR_EXCLUDE_KERNEL, ":h" }, { 1u << ATTR_EXCLUDE_HV | 1u << ATTR_EXCLUDE_GUEST, ":kuH" },
		{ 2u << 15, ":pp" }, { 3u << 15 | 1u << ATTR_EXCLUDE_GUEST, ":pppH" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CLEANUP_STR struct str got = { 0 };
		event_name_of(&rows[i].attr, &got);
		EXPECT_STR(str_text(&got), rows[i].name);
	}
	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
		CLEANUP_STR struct str got = { 0 };
		str_puts(&got, "x");
		event_modifiers_of(&(struct attr){ .flags = sides[i].flags }, &got);
		EXPECT_STR(str_text(&got) + 1, sides[i].modifiers);
	}
}
