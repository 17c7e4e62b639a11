#include "record/acquire/trace.h"

#include <errno.h>
#include <string.h>

#include "event/intel_pt.h"
#include "os/counter.h"
#include "os/file.h"
#include "os/machine.h"
#include "os/permission.h"

enum { KIB = 1024, MIB = 1024 * KIB };

struct choosing {
	struct trace *trace;
	struct events *events;
	const struct trace_options *options;
	struct sampling *sampling;
	const struct target *target;
	struct str *warnings;
	struct error *err;
	bool privileged;          /* locked memory is not limited */
};

/* perf ends with EINVAL where it refuses such a request. */
static int refused(struct error *err)
{
	if (err)
		err->sys = EINVAL;
	return -1;
}

#define REFUSE(err, ...) (error_set(err, ERROR_USAGE, __VA_ARGS__), refused(err))

static void warn(struct choosing *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void warn(struct choosing *c, const char *format, ...)
{
	va_list args;
	if (!c->warnings)
		return;
	va_start(args, format);
	str_puts(c->warnings, "Warning:\n");
	str_vprintf(c->warnings, format, args);
	va_end(args);
	str_putc(c->warnings, '\n');
}

static uint32_t index_of_trace(const struct events *events)
{
	for (uint32_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].traces)
			return i;
	return UINT32_MAX;
}

const struct event *trace_event(const struct trace *trace, const struct events *events)
{
	uint32_t index = trace->kind == TRACE_NONE ? UINT32_MAX : index_of_trace(events);
	return index == UINT32_MAX ? NULL : &events->list.items[index];
}

static struct event *event_of_trace(const struct choosing *c)
{
	return &c->events->list.items[index_of_trace(c->events)];
}

static int find_kind(struct choosing *c)
{
	for (size_t i = 0; i < c->events->list.count; i++) {
		const struct event *event = &c->events->list.items[i];
		if (!event->traces)
			continue;
		enum trace_kind kind = strcmp(event->pmu, "intel_pt") == 0 ? TRACE_INTEL_PT : TRACE_INTEL_BTS;
		if (c->trace->kind != TRACE_NONE && c->trace->kind != kind)
			return REFUSE(c->err, "intel_pt and intel_bts may not be used together");
		c->trace->kind = kind;
		c->trace->pmu = pmus_named(&c->events->pmus, event->pmu);
	}
	if (c->trace->kind == TRACE_NONE && c->options->snapshot)
		return REFUSE(c->err, "No AUX area tracing to snapshot");
	return 0;
}

static int check_sampled(struct choosing *c)
{
	enum { SAMPLE_MOST = 60 * KIB };
	const struct event *list = c->events->list.items;
	for (uint32_t i = 0; i < c->events->list.count; i++) {
		uint32_t size = list[i].attr.aux_sample_size;
		if (!size)
			continue;
		if (list[i].leader == i)
			return REFUSE(c->err, "Cannot add AUX area sampling to %s", list[i].traces ? "an AUX area event" : "a group leader");
		if (size > SAMPLE_MOST)
			return REFUSE(c->err, "AUX area sample size %u too big, max. %d", size, SAMPLE_MOST);
		if (!list[list[i].leader].traces)
			return REFUSE(c->err, "Cannot add AUX area sampling because group leader is not an AUX area event");
		c->events->list.items[i].more_fields |= SAMPLE_AUX;
		c->trace->samples = true;
	}
	if (!c->trace->samples)
		return REFUSE(c->err, "AUX area sampling requires an AUX area event group leader plus other events to which to add samples");
	return 0;
}

/* --aux-sample for all members of the trace's group; the term aux-sample-size for one event, which joins the group. */
static int choose_sampled(struct choosing *c)
{
	enum { SAMPLE_DEFAULT = 4096 }; /* at least one PSB packet */
	struct event *list = c->events->list.items;
	uint32_t trace = UINT32_MAX;
	bool any = c->options->sample;
	for (uint32_t i = 0; i < c->events->list.count && c->options->sample; i++)
		if (list[i].leader != i && list[list[i].leader].traces)
			list[i].attr.aux_sample_size = c->options->sample_size ? (uint32_t)c->options->sample_size : SAMPLE_DEFAULT;
	for (uint32_t i = 0; i < c->events->list.count; i++) {
		trace = list[i].traces ? i : trace;
		if (!(list[i].terms.set & EVENT_TERM_AUX_SAMPLE_SIZE))
			continue;
		any = true;
		list[i].attr.aux_sample_size = (uint32_t)list[i].terms.aux_sample_size;
		if (trace != UINT32_MAX && list[i].attr.aux_sample_size)
			events_join(c->events, trace, i);
	}
	if (!any)
		return 0;
	if (c->trace->kind == TRACE_NONE)
		return REFUSE(c->err, "No AUX area event to sample");
	return check_sampled(c);
}

static void join_outputs(struct choosing *c)
{
	uint32_t trace = UINT32_MAX;
	for (uint32_t i = 0; i < c->events->list.count; i++) {
		const struct event *event = &c->events->list.items[i];
		trace = event->traces ? i : trace;
		if (event->terms.set & EVENT_TERM_AUX_OUTPUT && trace != UINT32_MAX)
			events_join(c->events, trace, i);
	}
}

/* The trace of a guest that traces itself is not the host's. */
static bool guests_trace(void)
{
	int64_t mode;
	return file_number("/sys/module/kvm_intel/parameters/pt_mode", &mode) && mode == 1;
}

static int take_events(struct choosing *c)
{
	bool pt = c->trace->kind == TRACE_INTEL_PT;
	unsigned traces = 0;
	for (size_t i = 0; i < c->events->list.count; i++) {
		struct event *event = &c->events->list.items[i];
		if (!event->traces)
			continue;
		if (traces++)
			return REFUSE(c->err, "There may be only one %s event", event->pmu);
		event->bare = pt;
		if (pt)
			set_attr_flag(&event->attr, ATTR_EXCLUDE_GUEST, guests_trace());
	}
	if (!pt)
		return c->trace->samples ? REFUSE(c->err, "Intel BTS does not support AUX area sampling") : 0;
	if (c->options->snapshot && c->trace->samples)
		return REFUSE(c->err, "Snapshot mode (intel_pt PMU) and sample trace cannot be used together");
	if (c->sampling->use_clockid)
		return REFUSE(c->err, "Cannot use clockid (-k option) with intel_pt");
	return 0;
}

static size_t page_size(void)
{
	return (size_t)machine_page_size();
}

static size_t pages_for(size_t bytes)
{
	size_t pages = 1;
	while (pages * page_size() < bytes)
		pages *= 2;
	return pages;
}

static void choose_default_pages(struct choosing *c)
{
	c->trace->pages = (c->privileged ? 4 * MIB : 128 * KIB) / page_size();
	if (!c->privileged && !c->options->ring_pages_given)
		c->trace->ring_pages = 256 * KIB / page_size();
}

static int choose_snapshot(struct choosing *c)
{
	struct trace *t = c->trace;
	t->snapshot_size = (size_t)c->options->snapshot_size;
	if (!t->snapshot_size && !t->pages)
		choose_default_pages(c);
	else if (!t->pages && !c->privileged && !c->options->ring_pages_given)
		t->ring_pages = 256 * KIB / page_size();
	if (!t->snapshot_size)
		t->snapshot_size = t->pages * page_size();
	if (!t->pages)
		t->pages = t->snapshot_size > SIZE_MAX / 4 ? 0 : pages_for(t->snapshot_size);
	if (t->snapshot_size > t->pages * page_size())
		return REFUSE(c->err, "Snapshot size %zu must not be greater than AUX area tracing mmap size %zu", t->snapshot_size,
			t->pages * page_size());
	return 0;
}

static int choose_samples(struct choosing *c, size_t *least)
{
	struct trace *t = c->trace;
	size_t most = 0;
	for (size_t i = 0; i < c->events->list.count; i++) {
		size_t size = c->events->list.items[i].attr.aux_sample_size;
		if (size && (size < *least || !*least))
			*least = size;
		most = size > most ? size : most;
	}
	if (!t->pages && !c->privileged && !c->options->ring_pages_given)
		t->ring_pages = 256 * KIB / page_size();
	if (!t->pages)
		t->pages = pages_for(most);
	if (most > t->pages * page_size())
		return REFUSE(c->err, "Sample size %zu must not be greater than AUX area tracing mmap size %zu", most, t->pages * page_size());
	return 0;
}

/* The bytes before the last position that are compared at a snapshot: two periods of PSB packets, which are distinct. */
static size_t reference_size(const struct choosing *c, size_t period)
{
	enum { MOST = 256 * KIB, SMALL = 64 * KIB };
	size_t area = c->trace->pages * page_size(), asked = (size_t)c->options->snapshot_size;
	size_t size = period * 2 > MOST ? MOST : period * 2;
	return asked <= SMALL || size >= area || size >= asked / 2 ? 0 : size;
}

static int choose_sizes(struct choosing *c)
{
	enum { PSB_NEAR = 256 };
	struct trace *t = c->trace;
	bool pt = t->kind == TRACE_INTEL_PT, overwritten = t->snapshot || t->samples;
	size_t period = pt ? intel_pt_psb_period(t->pmu, event_of_trace(c)->attr.config) : 0, least = 0;
	t->pages = c->options->pages;
	if (t->snapshot && choose_snapshot(c) < 0)
		return -1;
	if (t->snapshot && pt && t->snapshot_size <= period + PSB_NEAR)
		warn(c, "Intel PT snapshot size (%zu) may be too small for PSB period (%zu)", t->snapshot_size, period);
	if (t->samples && choose_samples(c, &least) < 0)
		return -1;
	if (t->samples && least <= period + PSB_NEAR)
		warn(c, "Intel PT sample size (%zu) may be too small for PSB period (%zu)", least, period);
	if (!t->pages)
		choose_default_pages(c);
	size_t bytes = t->pages * page_size(), smallest = overwritten ? 4 * KIB : 8 * KIB;
	if (bytes < smallest || bytes & (bytes - 1))
		return REFUSE(c->err, "Invalid mmap size for Intel %s: must be at least %zuKiB and a power of 2",
			pt ? "Processor Trace" : "BTS", smallest / 1024);
	if (pt && !overwritten) /* wakes the reader four times a round */
		event_of_trace(c)->attr.aux_watermark = bytes / 4 > UINT32_MAX ? UINT32_MAX : (uint32_t)(bytes / 4);
	t->reference = pt && t->snapshot ? reference_size(c, period) : 0;
	return 0;
}

static bool can_open(const struct attr *attr, pid_t pid, int cpu)
{
	int fd = counter_open(attr, pid, cpu, -1, 0);
	counter_close(fd);
	return fd >= 0;
}

static bool kernel_has(enum attr_flag flag)
{
	const struct attr attr = { .type = ATTR_SOFTWARE, .config = 9, .flags = (uint64_t)1 << flag | (uint64_t)1 << ATTR_EXCLUDE_KERNEL };
	return can_open(&attr, 0, -1);
}

/* Whether this user may measure whole CPUs, as side-band of all of them needs. */
static bool may_measure_cpus(const struct target *target)
{
	const struct attr attr = { .type = ATTR_SOFTWARE, .flags = (uint64_t)1 << ATTR_EXCLUDE_KERNEL };
	return can_open(&attr, -1, target->online.list.count ? target->online.list.items[0] : 0);
}

static struct event *add_follower(struct choosing *c, bool everywhere)
{
	struct event *event = &c->events->list.items[events_add_follower(c->events)];
	event->tracks = false;
	event->everywhere = everywhere;
	return event;
}

/* An area for a CPU has the code of every thread: a decoder must know which one ran. */
static void add_switches(struct choosing *c, bool *immediate)
{
	struct sampling *s = c->sampling;
	if (!c->trace->per_cpu || (s->switch_events_given && !s->switch_events) || !kernel_has(ATTR_CONTEXT_SWITCH))
		return;
	c->trace->switches = TRACE_SWITCHES_OF_CPUS;
	if (!c->target->system_wide && may_measure_cpus(c->target)) {
		struct event *event = add_follower(c, true);
		event->more_flags = (uint64_t)1 << ATTR_CONTEXT_SWITCH;
		event->more_fields = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU;
		event->immediate = true;
		s->switch_events = false;
		return;
	}
	s->switch_events = *immediate = true;
	if (!c->target->system_wide)
		c->trace->switches = TRACE_SWITCHES_OF_TASKS;
}

static void add_tracking(struct choosing *c, bool immediate)
{
	const struct event *traced = event_of_trace(c);
	bool everywhere = c->target->cpus_given && !attr_flag(&traced->attr, ATTR_EXCLUDE_USER);
	bool pt = c->trace->kind == TRACE_INTEL_PT;
	struct event *event = add_follower(c, everywhere);
	event->tracks = true;
	event->immediate = immediate;
	event->bare = pt;
	if (pt && c->trace->per_cpu)
		event->more_fields = SAMPLE_TIME | SAMPLE_CPU;
}

/* Changes of the kernel's code while it is traced. */
static void add_code_changes(struct choosing *c)
{
	struct event *event = add_follower(c, true);
	event->more_flags = (uint64_t)1 << ATTR_TEXT_POKE | (uint64_t)1 << ATTR_KSYMBOL;
	event->more_fields = SAMPLE_TIME;
	event->immediate = true;
	c->sampling->text_poke = true;
}

static int choose_pt(struct choosing *c)
{
	struct event *event = event_of_trace(c);
	uint64_t period = intel_pt_bits(c->trace->pmu, "psb_period");
	bool immediate = false;
	if (c->trace->samples && !(event->chosen & period)) /* as many places as possible at which decoding can begin */
		event->attr.config &= ~period;
	if (intel_pt_check(c->trace->pmu, &event->attr.config, c->warnings, c->err) < 0 || choose_sizes(c) < 0)
		return -1;
	bool timed = event->attr.config & intel_pt_bit(c->trace->pmu, "tsc");
	if (timed)
		add_switches(c, &immediate);
	event = event_of_trace(c);
	bool pokes = timed && !attr_flag(&event->attr, ATTR_EXCLUDE_KERNEL) && kernel_has(ATTR_TEXT_POKE) && may_measure_cpus(c->target);
	if (c->trace->per_cpu)
		event->more_fields |= SAMPLE_CPU;
	events_to_front(c->events, index_of_trace(c->events));
	add_tracking(c, immediate);
	if (pokes)
		add_code_changes(c);
	event = event_of_trace(c);
	bool task = c->target->command;
	if (c->trace->switches == TRACE_SWITCHES_NONE && c->trace->per_cpu && !task && !attr_flag(&event->attr, ATTR_EXCLUDE_USER))
		warn(c, "Intel Processor Trace decoding will not be possible except for kernel tracing!");
	return 0;
}

static int choose_bts(struct choosing *c)
{
	enum { BRANCH_RECORD = 24 };
	if (c->trace->per_cpu)
		return REFUSE(c->err, "intel_bts does not support per-cpu recording");
	if (choose_sizes(c) < 0)
		return -1;
	c->trace->align = BRANCH_RECORD;
	events_to_front(c->events, index_of_trace(c->events));
	add_tracking(c, false);
	return 0;
}

int trace_configure(struct trace *trace, struct events *events, const struct trace_options *options, struct sampling *sampling,
	const struct target *target, struct str *warnings, struct error *err)
{
	static const struct trace_options usual = { 0 };
	struct choosing c = { trace, events, options ? options : &usual, sampling, target, warnings, err, false };
	struct permission permission;
	*trace = (struct trace){ .per_cpu = !cpus_has(&target->cpus, -1) };
	if (find_kind(&c) < 0 || choose_sampled(&c) < 0)
		return -1;
	if (trace->kind == TRACE_NONE)
		return 0;
	permission_read(&permission);
	c.privileged = permission.root || permission.perfmon || permission.paranoid <= -1;
	trace->snapshot = c.options->snapshot;
	join_outputs(&c);
	if (take_events(&c) < 0)
		return -1;
	sampling->trace = true;
	return trace->kind == TRACE_INTEL_PT ? choose_pt(&c) : choose_bts(&c);
}
