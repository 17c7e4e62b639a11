#include "record/acquire/configure.h"

#include "abi/off_cpu.h"

#include <errno.h>
#include <string.h>

#include "os/permission.h"

static bool is_dummy(const struct event *event)
{
	return event->attr.type == ATTR_SOFTWARE && event->attr.config == 9;
}

static bool is_bpf_output(const struct event *event)
{
	return event->attr.type == ATTR_SOFTWARE && event->attr.config == 10;
}

uint32_t configure_tracking(const struct events *events)
{
	for (uint32_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].tracks)
			return i;
	return 0;
}

static size_t core_pmus(struct events *events)
{
	size_t count = 0;
	pmus_read(&events->pmus);
	for (size_t i = 0; i < events->pmus.list.count; i++)
		count += events->pmus.list.items[i]->core;
	return count;
}

static bool any_term(const struct events *events, bool (*has)(const struct event_terms *terms))
{
	for (size_t i = 0; i < events->list.count; i++)
		if (has(&events->list.items[i].terms))
			return true;
	return false;
}

static bool overwrites(const struct event_terms *terms)
{
	return terms->set & EVENT_TERM_OVERWRITE && terms->overwrite;
}

static bool unwinds(const struct event_terms *terms)
{
	return terms->set & EVENT_TERM_CALL_GRAPH && strncmp(terms->call_graph, "unwind", 6) == 0;
}

/* Stacks in overwritten rings are unwound at a snapshot, with the mappings of their time: the side-band records of those must not be
 * overwritten. */
static bool needs_private(const struct events *events, const struct sampling *s)
{
	return (s->overwrite || any_term(events, overwrites)) && (s->call_graph == CALL_GRAPH_UNWIND || any_term(events, unwinds));
}

static void add_default(struct events *events)
{
	struct permission permission;
	permission_read(&permission);
	bool kernel = permission.perfmon || permission.root || permission.paranoid <= 1;
	events_parse(events, kernel ? "cycles:P" : "cycles:Pu", NULL);
}

bool configure_is_off_cpu(const struct event *event)
{
	return is_bpf_output(event) && event->name && strcmp(event->name, OFF_CPU_EVENT) == 0;
}

void configure_add_off_cpu(struct events *events, bool raw)
{
	if (!events->list.count)
		add_default(events);
	if (events_parse(events, "bpf-output/name=" OFF_CPU_EVENT "/", NULL) == 0) {
		struct event *event = &events->list.items[events->list.count - 1];
		event->bare = true;
		event->more_fields |= raw ? SAMPLE_RAW : 0;
	}
}

/* The samples of this event are not the kernel's. */
static void set_off_cpu(struct attr *attr, bool raw)
{
	enum { COPY_BYTES = 8192 };
	attr->sample_type &= SAMPLE_IDENTIFIER | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU;
	attr->sample_type |= SAMPLE_PERIOD | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER | (raw ? SAMPLE_RAW : 0);
	attr->sample_regs_user = registers_for_dwarf();
	attr->sample_stack_user = COPY_BYTES;
	set_attr_flag(attr, ATTR_EXCLUDE_CALLCHAIN_USER, true);
}

void configure_defaults(struct events *events, const struct sampling *sampling, const struct target *target)
{
	if (!events->list.count)
		add_default(events);
	bool needs_follower = target->system_wide || sampling->delay_ms || core_pmus(events) > 1;
	bool private = needs_private(events, sampling);
	uint32_t follower = configure_tracking(events);
	bool tracked = events->list.items[follower].tracks;
	if (!tracked && (private || (needs_follower && !is_dummy(&events->list.items[0])))) {
		follower = events_add_follower(events);
		events->list.items[follower].private = private;
		events->list.items[follower].tracks_early = true;
	} else if (tracked && needs_follower) {
		events->list.items[follower].tracks_early = true;
		events->list.items[follower].everywhere |= target->cpus_given;
	}
	events_name_cores(events);
}

bool configure_enable_on_exec(const struct sampling *sampling, const struct target *target)
{
	return target->command && !sampling->delay_ms;
}

/* What the event itself requires, before any option: its default period, and the fields without which its samples are useless. */
static void set_required(struct event *event)
{
	struct attr *attr = &event->attr;
	bool raw = event->tracepoint || is_bpf_output(event);
	attr->sample_type = SAMPLE_IP | SAMPLE_TID | event->more_fields | (raw ? SAMPLE_RAW | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD : 0);
	attr->sample_period = raw || (attr->type == ATTR_BREAKPOINT && event->terms.period) || event->follower || event->traces;
	attr->flags |= event->more_flags;
	attr->read_format = READ_LOST | READ_ID;
}

static void set_rate(struct attr *attr, const struct sampling *s)
{
	if (!attr->sample_period || s->rate_given) {
		set_attr_flag(attr, ATTR_FREQ, s->freq != 0);
		attr->sample_period = s->freq ? s->freq : s->period;
	}
	if (attr_flag(attr, ATTR_FREQ))
		attr->sample_type |= SAMPLE_PERIOD;
	if (s->no_samples)
		attr->sample_period = 0;
}

static void set_call_graph(struct event *event, const struct sampling *s, enum call_graph mode, uint64_t stack_size,
	uint32_t max_stack)
{
	struct attr *attr = &event->attr;
	if (mode == CALL_GRAPH_NONE || event->bare)
		return;
	attr->sample_type |= SAMPLE_CALLCHAIN;
	attr->sample_max_stack = (uint16_t)max_stack;
	if (s->kernel_callchains)
		set_attr_flag(attr, ATTR_EXCLUDE_CALLCHAIN_USER, true);
	if (s->user_callchains)
		set_attr_flag(attr, ATTR_EXCLUDE_CALLCHAIN_KERNEL, true);
	/* without user code, no stack is unwound */
	event->unwind = mode == CALL_GRAPH_UNWIND && !s->kernel_callchains;
	event->keeps_registers = event->unwind && s->regs_user;
	if (mode == CALL_GRAPH_DWARF || event->unwind) {
		attr->sample_type |= SAMPLE_REGS_USER | SAMPLE_STACK_USER;
		attr->sample_regs_user |= s->regs_user ? s->regs_user | registers_minimal() : s->regs_mask;
		attr->sample_stack_user = (uint32_t)stack_size;
		set_attr_flag(attr, ATTR_EXCLUDE_CALLCHAIN_USER, true);
	}
	if (mode == CALL_GRAPH_LBR) {
		attr->sample_type |= SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = BRANCH_USER | BRANCH_CALL_STACK | BRANCH_NO_CYCLES | BRANCH_NO_FLAGS | BRANCH_HW_INDEX;
	}
}

/* Samples carry a time, except with a ring per thread if no option asked for one. */
static bool wants_time(const struct sampling *s, const struct target *target)
{
	return !s->no_time && (!target->per_thread || s->time_given);
}

static void set_sample_type(struct event *event, const struct sampling *s, const struct target *target)
{
	struct attr *attr = &event->attr;
	const struct {
		bool wanted, of_bare;
		uint64_t bits;
	} rows[] = {
		{ event->sample_read, true, SAMPLE_READ },
		{ s->address, true, SAMPLE_ADDR | SAMPLE_DATA_SRC },
		{ s->cgroups, true, SAMPLE_CGROUP },
		{ target->system_wide || s->cpu, true, SAMPLE_CPU },
		{ wants_time(s, target), true, SAMPLE_TIME },
		{ s->raw, false, SAMPLE_RAW | SAMPLE_TIME | SAMPLE_CPU },
		{ s->regs_user != 0 && !event->follower, false, SAMPLE_REGS_USER },
		{ s->regs_intr != 0 && !event->follower, false, SAMPLE_REGS_INTR },
		{ s->branch != 0 && !is_dummy(event), false, SAMPLE_BRANCH_STACK },
		{ s->period_bit, true, SAMPLE_PERIOD },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].wanted && (rows[i].of_bare || !event->bare))
			attr->sample_type |= rows[i].bits;
	for (unsigned bit = 0; bit < SAMPLE_BITS_MAX; bit++)
		attr->sample_type |= (uint64_t)s->fields[bit] << bit;
	if (s->no_period)
		attr->sample_type &= ~(uint64_t)SAMPLE_PERIOD;
	if (event->bare)
		return;
	attr->branch_sample_type |= s->branch;
	if (event->follower)
		return;
	attr->sample_regs_user |= s->regs_user;
	attr->sample_regs_intr |= s->regs_intr;
}

static void set_tracking(struct attr *attr, const struct sampling *s)
{
	const struct {
		bool wanted;
		enum attr_flag bit;
	} rows[] = {
		{ true, ATTR_TASK }, { true, ATTR_MMAP }, { true, ATTR_MMAP2 }, { true, ATTR_COMM }, { true, ATTR_COMM_EXEC },
		{ !s->text_poke, ATTR_KSYMBOL }, { !s->no_bpf_event, ATTR_BPF_EVENT },
		{ s->data_maps_given ? s->data_maps : s->address, ATTR_MMAP_DATA },
		{ s->build_id_mmap, ATTR_BUILD_ID }, { s->namespaces, ATTR_NAMESPACES }, { s->cgroups, ATTR_CGROUP },
		{ s->switch_events, ATTR_CONTEXT_SWITCH },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].wanted)
			set_attr_flag(attr, rows[i].bit, true);
}

static void set_flags(struct event *event, const struct sampling *s, const struct target *target, bool leader)
{
	struct attr *attr = &event->attr;
	set_attr_flag(attr, ATTR_SAMPLE_ID_ALL, true);
	set_attr_flag(attr, ATTR_INHERIT, !s->no_inherit);
	set_attr_flag(attr, ATTR_WRITE_BACKWARD, s->overwrite);
	set_attr_flag(attr, ATTR_INHERIT_STAT, s->inherit_stat);
	if (s->inherit_stat || s->running_time)
		attr->read_format |= READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING;
	if (s->no_buffering)
		attr->wakeup_events = 1;
	if (event->precise_max)
		attr->flags |= (uint64_t)3 << ATTR_PRECISE_IP;
	if (s->all_user || s->all_kernel) {
		set_attr_flag(attr, ATTR_EXCLUDE_KERNEL, s->all_user);
		set_attr_flag(attr, ATTR_EXCLUDE_USER, s->all_kernel);
	}
	if (s->use_clockid) {
		set_attr_flag(attr, ATTR_USE_CLOCKID, true);
		attr->clockid = s->clockid;
	}
	set_attr_flag(attr, ATTR_DISABLED, leader);
	set_attr_flag(attr, ATTR_ENABLE_ON_EXEC, leader && configure_enable_on_exec(s, target));
	bool first_dummy = is_dummy(event) && target->system_wide && leader && event->leader == 0 && !event->follower;
	if (event->immediate || event->tracks_early || first_dummy) {
		bool waits = s->delay_ms && !target->system_wide && !event->immediate;
		set_attr_flag(attr, ATTR_DISABLED, waits);
		set_attr_flag(attr, ATTR_ENABLE_ON_EXEC, waits && target->command);
	}
}

/* Removes what the options set for call graphs, as far as perf does: exclusions from chains remain, and so do the values of the fields for
 * registers and stack bytes. */
static void clear_call_graph(struct event *event, const struct sampling *s)
{
	struct attr *attr = &event->attr;
	if (s->call_graph == CALL_GRAPH_NONE)
		return;
	attr->sample_type &= ~(uint64_t)SAMPLE_CALLCHAIN;
	if (s->call_graph == CALL_GRAPH_LBR) {
		attr->sample_type &= ~(uint64_t)SAMPLE_BRANCH_STACK;
		attr->branch_sample_type &= ~(uint64_t)(BRANCH_USER | BRANCH_CALL_STACK | BRANCH_HW_INDEX);
	}
	if (s->call_graph == CALL_GRAPH_DWARF || event->unwind)
		attr->sample_type &= ~(uint64_t)(SAMPLE_REGS_USER | SAMPLE_STACK_USER);
	if (event->unwind) { /* an event that the recorder unwinds has no counterpart in perf */
		attr->sample_type |= s->regs_user ? SAMPLE_REGS_USER : 0;
		attr->sample_regs_user = s->regs_user;
		attr->sample_stack_user = 0;
		set_attr_flag(attr, ATTR_EXCLUDE_CALLCHAIN_USER, s->kernel_callchains);
	}
	event->unwind = event->keeps_registers = false;
}

/* "call-graph=…", "stack-size=…" and "max-stack=…" of one event: any of them replaces the options for call graphs; a stack size alone
 * means no call graph, a number of frames alone means frame pointers. */
static void apply_call_graph_terms(struct event *event, const struct sampling *s, struct str *warnings)
{
	const struct event_terms *terms = &event->terms;
	struct attr *attr = &event->attr;
	enum call_graph mode = CALL_GRAPH_NONE;
	uint64_t size = 0, own_size = terms->set & EVENT_TERM_STACK_SIZE ? (uint32_t)terms->stack_size : 0;
	uint32_t depth = terms->set & EVENT_TERM_MAX_STACK ? (uint32_t)terms->max_stack : 0;
	const char *text = terms->set & EVENT_TERM_CALL_GRAPH ? terms->call_graph : depth ? "fp" : NULL;
	struct error why;
	if (!text && !own_size)
		return;
	if (text && strcmp(text, "no") != 0 && call_graph_parse(text, &mode, &size, &depth, &why) < 0) {
		if (warnings)
			str_printf(warnings, "%s\nper-event callgraph setting for %s failed. Apply callgraph global setting for it\n", why.text,
				event->name);
		return;
	}
	clear_call_graph(event, s);
	if (mode == CALL_GRAPH_DWARF) {
		attr->sample_type |= SAMPLE_ADDR | SAMPLE_DATA_SRC;
		set_attr_flag(attr, ATTR_MMAP_DATA, attr_flag(attr, ATTR_MMAP)); /* of the event that carries side-band */
	}
	set_call_graph(event, s, mode, own_size ? (own_size + 7) & ~(uint64_t)7 : size, depth);
}

/* The event's terms override the options. */
static void apply_terms(struct event *event, const struct sampling *s, struct str *warnings)
{
	const struct event_terms *terms = &event->terms;
	struct attr *attr = &event->attr;
	bool replaced = event->period_is_vendors && s->rate_given && !s->freq;
	if (terms->set & (EVENT_TERM_PERIOD | EVENT_TERM_FREQ) && !replaced) {
		bool freq = terms->set & EVENT_TERM_FREQ;
		set_attr_flag(attr, ATTR_FREQ, freq);
		attr->sample_period = freq ? terms->freq : terms->period;
		attr->sample_type = (attr->sample_type & ~(uint64_t)SAMPLE_PERIOD) | (freq || s->period_bit ? SAMPLE_PERIOD : 0);
	}
	if (terms->set & EVENT_TERM_TIME)
		attr->sample_type = (attr->sample_type & ~(uint64_t)SAMPLE_TIME) | (terms->time ? SAMPLE_TIME : 0);
	if (terms->set & EVENT_TERM_INHERIT)
		set_attr_flag(attr, ATTR_INHERIT, terms->inherit);
	if (terms->set & EVENT_TERM_OVERWRITE)
		set_attr_flag(attr, ATTR_WRITE_BACKWARD, terms->overwrite);
	if (terms->set & EVENT_TERM_BRANCH) {
		attr->sample_type = (attr->sample_type & ~(uint64_t)SAMPLE_BRANCH_STACK) | (terms->branch ? SAMPLE_BRANCH_STACK : 0);
		attr->branch_sample_type |= terms->branch; /* beside the kinds of -j */
	}
	if (terms->set & EVENT_TERM_AUX_OUTPUT)
		set_attr_flag(attr, ATTR_AUX_OUTPUT, terms->aux_output);
	apply_call_graph_terms(event, s, warnings);
}

/* The event of a group that is read together whose samples carry the counts: its leader, or the next one if the leader traces. */
static const struct event *sampler_of(const struct events *events, const struct event *leader)
{
	const struct event *list = events->list.items;
	for (size_t i = 0; i < events->list.count && leader->traces; i++)
		if (&list[list[i].leader] == leader && &list[i] != leader)
			return &list[i];
	return leader;
}

/* Members of a sampled-together group do not sample themselves, unless their terms say so: the leader's samples carry their counts. */
static void group_reading(struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++) {
		struct event *event = &events->list.items[i];
		const struct event *leader = &events->list.items[event->leader], *sampler = sampler_of(events, leader);
		if (leader->members < 2)
			continue;
		if (event->sample_read) {
			event->attr.read_format |= READ_GROUP;
			set_attr_flag(&event->attr, ATTR_INHERIT, false);
		}
		if (event == sampler || !leader->sample_read)
			continue;
		if (!(event->terms.set & (EVENT_TERM_PERIOD | EVENT_TERM_FREQ))) {
			event->attr.sample_period = 0;
			set_attr_flag(&event->attr, ATTR_FREQ, false);
		}
		if (!(event->terms.set & EVENT_TERM_OVERWRITE))
			set_attr_flag(&event->attr, ATTR_WRITE_BACKWARD, false);
		event->attr.sample_type = sampler->attr.sample_type | leader->attr.sample_type;
	}
}

/* Records of several events must identify their event. */
static void identify(struct events *events, const struct sampling *s)
{
	size_t count = events->list.count;
	bool identifier = s->identifier || s->trace, id = identifier || count > 1;
	for (size_t i = 1; i < count; i++)
		identifier |= events->list.items[i].attr.sample_type != events->list.items[0].attr.sample_type;
	for (size_t i = 0; i < count; i++) {
		struct attr *attr = &events->list.items[i].attr;
		if (id || (attr->sample_type & SAMPLE_READ && !(attr->sample_type & SAMPLE_IDENTIFIER)))
			attr->sample_type |= identifier ? SAMPLE_IDENTIFIER : SAMPLE_ID;
	}
}

static int refuse_events(struct error *err, const char *why)
{
	error_set(err, ERROR_USAGE, "%s", why);
	if (err)
		err->sys = EINVAL;
	return -1;
}

static int check(const struct events *events, const struct target *target, struct error *err)
{
	for (size_t i = 0; i < events->list.count; i++) {
		if (events->list.items[i].cgroup && !target->system_wide)
			return refuse_events(err, "cgroup monitoring only available in system-wide mode");
	}
	return 0;
}

struct attr configure_written(const struct event *event)
{
	struct attr attr = event->attr;
	if (event->unwind)
		set_attr_flag(&attr, ATTR_EXCLUDE_CALLCHAIN_USER, false);
	if (configure_is_off_cpu(event))
		set_off_cpu(&attr, event->more_fields & SAMPLE_RAW);
	return attr;
}

bool configure_unwinds(const struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].unwind)
			return true;
	return false;
}

uint32_t configure_stack_bytes(const struct events *events)
{
	uint32_t most = 0;
	for (size_t i = 0; i < events->list.count; i++)
		most = events->list.items[i].attr.sample_stack_user > most ? events->list.items[i].attr.sample_stack_user : most;
	return most;
}

/* Copies that the recorder unwinds only pass through the rings: they may be large if samples are rare. */
static void size_stacks(struct events *events, const struct sampling *s)
{
	enum { BYTES_PER_SECOND = 64 << 20, LARGEST = 65528 };
	uint64_t hz = 0;
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = &events->list.items[i];
		if (event->unwind && !attr_flag(&event->attr, ATTR_FREQ))
			return; /* their number is unknown */
		hz += event->unwind ? event->attr.sample_period : 0;
	}
	uint64_t size = hz ? BYTES_PER_SECOND / hz & ~(uint64_t)7 : 0, most = s->stack_most < LARGEST ? s->stack_most : LARGEST;
	size = size < most ? size : most;
	for (size_t i = 0; i < events->list.count; i++) {
		struct event *event = &events->list.items[i];
		bool own = event->terms.set & (EVENT_TERM_CALL_GRAPH | EVENT_TERM_STACK_SIZE);
		if (event->unwind && !own && event->attr.sample_stack_user < size)
			event->attr.sample_stack_user = (uint32_t)size;
	}
}

int configure_events(struct events *events, const struct sampling *sampling, const struct target *target, struct str *warnings,
	struct error *err)
{
	struct sampling s = *sampling;
	if (target->per_thread)
		s.no_inherit = true;
	s.address |= s.call_graph == CALL_GRAPH_DWARF; /* unwinding needs the data mappings */
	if (check(events, target, err) < 0)
		return -1;
	uint32_t tracking = configure_tracking(events);
	for (uint32_t i = 0; i < events->list.count; i++) {
		struct event *event = &events->list.items[i];
		set_required(event);
		set_rate(&event->attr, &s);
		set_sample_type(event, &s, target);
		set_call_graph(event, &s, s.call_graph, s.stack_size, s.max_stack);
		set_flags(event, &s, target, event->leader == i);
		if (event->private)
			set_attr_flag(&event->attr, ATTR_WRITE_BACKWARD, false);
		if (i == tracking || (i == 0 && events->list.items[tracking].private))
			set_tracking(&event->attr, &s);
		apply_terms(event, &s, warnings);
	}
	if (!s.stack_given)
		size_stacks(events, &s);
	if (configure_unwinds(events)) /* needs the mappings of their time */
		for (size_t i = 0; i < events->list.count; i++)
			events->list.items[i].attr.sample_type |= SAMPLE_TIME;
	group_reading(events);
	identify(events, &s);
	return 0;
}
