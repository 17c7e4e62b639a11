#include "record/acquire/counters.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/hash.h"
#include "event/event_names.h"
#include "event/intel_pt.h"
#include "os/counter.h"
#include "os/permission.h"
#include "record/acquire/configure.h"

/* The state while events are opened one after another. */
struct opening {
	struct counters *counters;
	struct events *events;
	const struct target *target;
	struct str *notes;
	unsigned dropped;            /* bits of kernel_features that are not used any more */
	unsigned files_raised;       /* how often the limit of open files was raised */
	bool partly;                 /* events that are not supported are states */
	bool together;               /* software events form a group */
	uint32_t software;           /* the event with which the software events are read; UINT32_MAX: none yet */
};

static void note(struct opening *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(struct opening *o, const char *format, ...)
{
	va_list args;
	if (!o->notes)
		return;
	va_start(args, format);
	str_vprintf(o->notes, format, args);
	va_end(args);
	str_putc(o->notes, '\n');
}

/* Features of newer kernels that no option names, newest first: after an EINVAL, the event is tried without one. */
static const struct kernel_feature {
	uint64_t read_format, sample_type, flags, branch;
	uint64_t instead;          /* sample_type bits that replace it */
	const char *what;
} kernel_features[] = {
	{ .read_format = READ_LOST, .what = "counts of lost samples" },
	{ .flags = (uint64_t)1 << ATTR_BUILD_ID, .what = "build-ids in mapping records" },
	{ .sample_type = SAMPLE_WEIGHT_STRUCT, .instead = SAMPLE_WEIGHT, .what = "structured weights" },
	{ .branch = BRANCH_HW_INDEX, .what = "branch stack indexes" },
	{ .flags = (uint64_t)1 << ATTR_KSYMBOL | (uint64_t)1 << ATTR_BPF_EVENT, .what = "kernel symbol and BPF records" },
	{ .branch = BRANCH_NO_FLAGS | BRANCH_NO_CYCLES, .what = "short branch stacks" },
	{ .flags = (uint64_t)1 << ATTR_COMM_EXEC, .what = "marks of exec in names" },
	{ .flags = (uint64_t)1 << ATTR_MMAP2, .what = "long mapping records" },
	{ .flags = (uint64_t)1 << ATTR_EXCLUDE_GUEST | (uint64_t)1 << ATTR_EXCLUDE_HOST, .what = "telling guests from hosts" },
};
enum { KERNEL_FEATURES = sizeof kernel_features / sizeof kernel_features[0] };

static bool uses(const struct attr *attr, const struct kernel_feature *feature)
{
	return (attr->read_format & feature->read_format) || (attr->sample_type & feature->sample_type) ||
		(attr->flags & feature->flags) || (attr->branch_sample_type & feature->branch);
}

static void drop(struct attr *attr, const struct kernel_feature *feature)
{
	if (attr->sample_type & feature->sample_type)
		attr->sample_type |= feature->instead;
	attr->read_format &= ~feature->read_format;
	attr->sample_type &= ~feature->sample_type;
	attr->flags &= ~feature->flags;
	attr->branch_sample_type &= ~feature->branch;
}

/* Drops the newest feature that this event uses, from all events; false if it uses none. */
static bool drop_feature(struct opening *o, struct event *event)
{
	for (unsigned i = 0; i < KERNEL_FEATURES; i++) {
		const struct kernel_feature *feature = &kernel_features[i];
		if (o->dropped >> i & 1 || !uses(&event->attr, feature))
			continue;
		o->dropped |= 1u << i;
		for (size_t k = 0; k < o->events->list.count; k++)
			drop(&o->events->list.items[k].attr, feature);
		note(o, "this kernel may not know %s: trying without", feature->what);
		return true;
	}
	return false;
}

/* First to the hard limit, then beyond it, which needs privilege. */
static bool raise_file_limit(struct opening *o)
{
	enum { MANY_FILES = 1 << 19 }; /* below fs.nr_open everywhere */
	struct rlimit limit;
	if (o->files_raised >= 2 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	if (o->files_raised == 0 && limit.rlim_cur == limit.rlim_max)
		o->files_raised++;
	if (o->files_raised == 1)
		limit.rlim_max = limit.rlim_max < MANY_FILES ? MANY_FILES : limit.rlim_max * 2;
	o->files_raised++;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* A clock instead of cycles, if no PMU counts those. */
static bool fall_back_to_clock(struct opening *o, struct event *event, int sys)
{
	struct attr *attr = &event->attr;
	if (o->partly || attr->type != ATTR_HARDWARE || (attr->config & 0xffffffff) != 0 || (sys != ENOENT && sys != ENXIO && sys != ENODEV))
		return false;
	attr->type = ATTR_SOFTWARE;
	attr->config = o->target->system_wide ? 0 : 1;
	event->pmu = "software";
	event->cpus = NULL;
	note(o, "The %s event is not supported, trying to fall back to %s", event->name, attr->config ? "task-clock" : "cpu-clock");
	CLEANUP_STR struct str name = { 0 };
	event_name_of(attr, &name);
	event->name = arena_string(&o->events->arena, name.text, name.len);
	return true;
}

/* User code alone, if the kernel may not be measured. */
static bool fall_back_to_user(struct opening *o, struct event *event, int sys)
{
	struct permission permission;
	struct attr *attr = &event->attr;
	if ((sys != EACCES && sys != EPERM) || attr_flag(attr, ATTR_EXCLUDE_KERNEL) || attr_flag(attr, ATTR_EXCLUDE_USER) ||
	    attr->type == ATTR_TRACEPOINT)
		return false;
	permission_read(&permission);
	if (permission.paranoid <= 1)
		return false;
	note(o, "kernel.perf_event_paranoid=%d, trying to fall back to excluding kernel and hypervisor samples", permission.paranoid);
	set_attr_flag(attr, ATTR_EXCLUDE_KERNEL, true);
	set_attr_flag(attr, ATTR_EXCLUDE_HV, true);
	CLEANUP_STR struct str name = { 0 };
	str_printf(&name, "%s%su", event->name, strchr(event->name, ':') ? "" : ":");
	event->name = arena_string(&o->events->arena, name.text, name.len);
	return true;
}

static void set_precise(struct event *event, unsigned level)
{
	event->attr.flags = (event->attr.flags & ~((uint64_t)3 << ATTR_PRECISE_IP)) | (uint64_t)level << ATTR_PRECISE_IP;
}

static const struct cpus *event_cpus(const struct opening *o, const struct event *event)
{
	if (event->everywhere || (event->follower && o->target->system_wide))
		return &o->target->online;
	if (event->cpus && event->cpus->list.count && !o->target->per_thread)
		return event->cpus;
	return &o->target->cpus;
}

/* The counter of the leader for the thread of that index on that CPU; UINT32_MAX: it has no open one. place: of the CPU among those of the
 * event. */
static uint32_t counter_group(const struct opening *o, uint32_t leader, size_t place, int32_t cpu, size_t thread)
{
	const struct counters *c = o->counters;
	const struct cpus *cpus = event_cpus(o, &o->events->list.items[leader]);
	if (place >= cpus->list.count || cpus->list.items[place] != cpu) /* the leader has other CPUs */
		place = cpus_index(cpus, cpu);
	size_t at = c->first.items[leader] + place * o->target->threads.count + thread;
	bool open = place < cpus->list.count && at < c->first.items[leader + 1] && c->list.items[at].fd >= 0;
	return open ? (uint32_t)at : UINT32_MAX;
}

/* Software events never wait for a counter, so they may form a kernel group that the user did not ask for: starting it and reading it
 * interrupts the CPU once, for all of them, and one system call reads them. */
static bool reads_together(const struct opening *o, const struct event *event, uint32_t index)
{
	enum { SOFTWARE_CLOCKS_TO_FAULTS = 8 };
	return o->together && event->leader == index && event->members < 2 && !event->cgroup &&
		!event->bpf_counter && !event->retire_latency && !event->task_counted && !event->cpus && event->attr.type == ATTR_SOFTWARE &&
		event->attr.config <= SOFTWARE_CLOCKS_TO_FAULTS;
}

/* The event in whose kernel group this one is opened; UINT32_MAX: none. */
static uint32_t group_leader(struct opening *o, const struct event *event, uint32_t index)
{
	if (event->leader != index)
		return event->leader;
	if (!reads_together(o, event, index))
		return UINT32_MAX;
	if (o->software == UINT32_MAX)
		o->software = index;
	return o->software == index ? UINT32_MAX : o->software;
}

static void close_from(struct counters *counters, size_t first)
{
	while (counters->list.count > first)
		counter_close(counters->list.items[--counters->list.count].fd);
}

/* Whether this failure can be ignored: one thread of many has ended, or a CPU went offline since the list of CPUs was read and was not
 * named by the user. */
static bool has_gone(struct opening *o, const struct counter *counter, bool first_cpu, int fd)
{
	const struct target *target = o->target;
	/* the group of a thread that is ending accepts no member */
	bool member = counter->reader < o->counters->first.items[counter->event] &&
		((o->software != UINT32_MAX && o->software != counter->event) || (counter->tid > 0 && !task_runs(counter->tid)));
	if ((fd == -ESRCH || ((fd == -EINVAL || fd == -ENODEV) && member)) && target->attached && target->threads.count > 1) {
		o->counters->missing_threads += first_cpu && counter->event == 0;
		return true;
	}
	if (fd != -ENODEV || !target->system_wide || target->cpus_given)
		return false;
	cpus_add(&o->counters->offline, counter->cpu);
	return true;
}

static bool group_opened(const struct opening *o, uint32_t index)
{
	return o->counters->states.items[o->events->list.items[index].leader] == COUNTER_OPENED;
}

static int open_counter(const struct opening *o, const struct counter *counter, int group)
{
	const struct event *event = &o->events->list.items[counter->event];
	return counter_open(&event->attr, event->cgroup ? event->cgroup_fd : counter->tid, counter->cpu, group,
		event->cgroup ? COUNTER_PID_CGROUP : 0);
}

/* Opens one event on all CPUs and threads; 0, or -errno of the first failure. */
static int open_event(struct opening *o, uint32_t index)
{
	struct event *event = &o->events->list.items[index];
	const struct cpus *cpus = event_cpus(o, event);
	const struct target *target = o->target;
	size_t first = o->counters->list.count, open = 0, threads = event->everywhere ? 1 : target->threads.count;
	uint32_t leader = group_leader(o, event, index);
	if (o->software == index || (leader != UINT32_MAX && leader == o->software))
		event->attr.read_format |= READ_GROUP;
	/* enabled with its leader: if it were enabled itself, kernels schedule its PMU again, but not that of its leader */
	if (leader != UINT32_MAX && leader == o->software) {
		set_attr_flag(&event->attr, ATTR_DISABLED, false);
		set_attr_flag(&event->attr, ATTR_ENABLE_ON_EXEC, false);
	}
	bool offline = false, grouped = event->leader != index;
	o->counters->first.items[index] = (uint32_t)first;
	if (event->attr.type == EVENT_TYPE_TOOL)
		return -ENOENT;
	for (size_t i = 0; i < cpus->list.count; i++) {
		for (size_t k = 0; k < threads; k++) {
			uint32_t at = (uint32_t)o->counters->list.count;
			uint32_t group = leader != UINT32_MAX ? counter_group(o, leader, i, cpus->list.items[i], k) : UINT32_MAX;
			struct counter *counter = vec_add(&o->counters->list);
			*counter = (struct counter){
				.fd = -1, .event = index, .cpu = cpus->list.items[i], .tid = event->everywhere ? -1 : target->threads.items[k].tid, .ring = UINT32_MAX,
				.reader = group != UINT32_MAX ? group : at,
			};
			if (o->partly && (event->bpf_counter || event->retire_latency || event->task_counted)) {
				open++;
				continue;
			}
			if (grouped && group == UINT32_MAX)
				continue;
			int fd = open_counter(o, counter, group != UINT32_MAX ? o->counters->list.items[group].fd : -1);
			if (fd >= 0) {
				counter->fd = fd;
				open++;
				continue;
			}
			offline |= fd == -ENODEV;
			if (has_gone(o, counter, i == 0, fd))
				continue;
			close_from(o->counters, first);
			return fd;
		}
	}
	if (o->partly && grouped && !open && !group_opened(o, index))
		return -ENOENT;
	if (open || !offline)
		return 0;
	close_from(o->counters, first); /* on no CPU at all: for another reason */
	vec_clear(&o->counters->offline.list);
	return -ENODEV;
}

bool counter_is_missing(int sys)
{
	return sys == EINVAL || sys == ENOSYS || sys == ENOENT || sys == EOPNOTSUPP || sys == ENXIO || sys == ENODEV || sys == EBADF;
}

/* An event without open counters. One that perfuse itself measures has one, for its value. */
static int leave_out(struct opening *o, uint32_t index)
{
	const struct event *event = &o->events->list.items[index];
	uint32_t at = o->counters->first.items[index];
	close_from(o->counters, at);
	if (o->software == index)
		o->software = UINT32_MAX;
	if (event->attr.type == EVENT_TYPE_TOOL)
		vec_push(&o->counters->list, ((struct counter){
			.fd = -1, .event = index, .cpu = event_cpus(o, event)->list.items[0], .tid = o->target->threads.items[0].tid, .ring = UINT32_MAX,
			.reader = at,
		}));
	else
		o->counters->states.items[index] = COUNTER_UNSUPPORTED;
	return 0;
}

/* A weak group that does not fit into the PMU is split into its events. */
static bool break_group(struct opening *o, uint32_t index)
{
	struct event *list = o->events->list.items;
	uint32_t leader = list[index].leader;
	if (!list[leader].weak || list[leader].members < 2)
		return false;
	for (uint32_t i = leader; i < o->events->list.count && list[i].leader == leader; i++) {
		list[i].leader = i;
		list[i].members = 0;
		set_attr_flag(&list[i].attr, ATTR_DISABLED, attr_flag(&list[leader].attr, ATTR_DISABLED));
		set_attr_flag(&list[i].attr, ATTR_ENABLE_ON_EXEC, attr_flag(&list[leader].attr, ATTR_ENABLE_ON_EXEC));
	}
	note(o, "the group of %s does not fit into the PMU: its events are counted one by one", list[leader].name);
	return true;
}

static int explain(struct opening *o, const struct event *event, int sys, struct error *err)
{
	const char *term = NULL;
	const struct pmu *pmu = event->traces ? pmus_named(&o->events->pmus, event->pmu) : NULL;
	const char *cap = pmu && (sys == EINVAL || sys == EOPNOTSUPP) ? intel_pt_lacks(pmu, event->attr.config, &term) : NULL;
	if (!cap)
		return counter_explain(err, event, o->target, sys);
	return error_set(err, ERROR_UNSUPPORTED, "%s: the trace of this processor has no '%s': its capability %s is 0 "
		"(/sys/bus/event_source/devices/%s/caps/%s)", event->name, term, cap, pmu->name, cap);
}

/* Opens one event, with one fallback after the other. */
static int open_with_fallbacks(struct opening *o, uint32_t index, struct error *err)
{
	struct event *event = &o->events->list.items[index];
	unsigned wanted = attr_precise_ip(&event->attr);
	for (;;) {
		int status = open_event(o, index);
		if (status == 0)
			return 0;
		if (event->precise_max && attr_precise_ip(&event->attr) > 0) {
			set_precise(event, attr_precise_ip(&event->attr) - 1);
			continue;
		}
		if (event->precise_max)
			set_precise(event, wanted);
		if (status == -EMFILE && raise_file_limit(o))
			continue;
		if (fall_back_to_clock(o, event, -status) || fall_back_to_user(o, event, -status))
			continue;
		if (status == -EINVAL && drop_feature(o, event))
			continue;
		bool breaks = status == -EINVAL || status == -EBADF || (o->partly && counter_is_missing(-status) && group_opened(o, index));
		if (breaks && event->leader != index && break_group(o, index))
			continue;
		if (o->partly && counter_is_missing(-status))
			return leave_out(o, index);
		return explain(o, event, -status, err);
	}
}

int counters_read_ids(struct counters *counters, struct error *err)
{
	for (size_t i = 0; i < counters->list.count; i++) {
		struct counter *counter = &counters->list.items[i];
		int status = counter->fd >= 0 ? counter_id(counter->fd, &counter->id) : 0;
		if (status < 0) {
			errno = -status;
			return error_system(err, "cannot read the id of an event");
		}
	}
	return 0;
}

/* A group is counted whole or not at all. */
static void find_lame(struct counters *counters, const struct events *events)
{
	const struct event *list = events->list.items;
	for (uint32_t i = 0; i < events->list.count; i++) {
		uint32_t leader = list[i].leader;
		if (leader == i || counters->states.items[i] != COUNTER_UNSUPPORTED || counters->states.items[leader] != COUNTER_OPENED)
			continue;
		for (uint32_t k = leader; k < events->list.count; k++)
			if (list[k].leader == leader && counters->states.items[k] == COUNTER_OPENED)
				counters->states.items[k] = COUNTER_LAME;
	}
}

static int open_all(struct opening *o, struct error *err)
{
	struct counters *counters = o->counters;
	*counters = (struct counters){ 0 };
	for (uint32_t i = 0; i <= o->events->list.count; i++)
		vec_push(&counters->first, 0);
	for (uint32_t i = 0; i < o->events->list.count; i++)
		vec_push(&counters->states, COUNTER_OPENED);
	for (uint32_t i = 0; i < o->events->list.count; i++) {
		if (open_with_fallbacks(o, i, err) < 0)
			return -1;
		counters->first.items[i + 1] = (uint32_t)counters->list.count;
	}
	return 0;
}

static void find_cpus(struct counters *counters)
{
	for (size_t i = 0; i < counters->list.count; i++)
		if (!cpus_has(&counters->offline, counters->list.items[i].cpu))
			cpus_add(&counters->cpus, counters->list.items[i].cpu);
}

static bool any_open(const struct counters *counters)
{
	for (size_t i = 0; i < counters->list.count; i++)
		if (counters->list.items[i].fd >= 0)
			return true;
	return false;
}

int counters_open(struct counters *counters, struct events *events, const struct target *target, struct str *notes,
	struct error *err)
{
	struct opening o = { .counters = counters, .events = events, .target = target, .notes = notes, .software = UINT32_MAX };
	if (open_all(&o, err) < 0)
		return -1;
	if (counters_read_ids(counters, err) < 0)
		return -1;
	find_cpus(counters);
	return any_open(counters) ? 0 : counter_explain(err, &events->list.items[0], target, ESRCH);
}

int counters_open_partly(struct counters *counters, struct events *events, const struct target *target, bool together, struct str *notes,
	struct error *err)
{
	struct opening o = {
		.counters = counters, .events = events, .target = target, .notes = notes, .software = UINT32_MAX, .partly = true, .together = together,
	};
	if (open_all(&o, err) < 0)
		return -1;
	find_lame(counters, events);
	find_cpus(counters);
	for (size_t i = 0; i < target->cpus.list.count && !events->list.count; i++)
		cpus_add(&counters->cpus, target->cpus.list.items[i]);
	return 0;
}

/* The ring of a counter: one per CPU, or per thread if threads are measured on any CPU; overwritten rings are separate. */
static uint64_t ring_key(const struct counter *counter, bool backward)
{
	uint64_t place = counter->cpu >= 0 ? (uint64_t)counter->cpu : (uint64_t)1 << 40 | (uint32_t)counter->tid;
	return place << 1 | backward;
}

/* Maps the AUX area of a ring, if its counter traces. */
static int map_area(struct counters *counters, const struct counter *counter, const struct events *events, size_t bytes,
	bool overwrite, struct error *err)
{
	struct aux_ring area = { 0 };
	int status = 0;
	if (bytes && events->list.items[counter->event].traces)
		status = aux_ring_open(&area, &counters->rings.items[counter->ring], bytes, overwrite, err);
	if (bytes)
		vec_push(&counters->areas, area);
	return status;
}

int counters_map(struct counters *counters, const struct events *events, const struct ring_sizes *sizes, struct error *err)
{
	struct idmap rings = { 0 };
	int status = 0;
	for (size_t i = 0; i < counters->list.count && status == 0; i++) {
		struct counter *counter = &counters->list.items[i];
		bool backward = attr_flag(&events->list.items[counter->event].attr, ATTR_WRITE_BACKWARD), added;
		if (counter->fd < 0)
			continue;
		counter->ring = idmap_add(&rings, ring_key(counter, backward), (uint32_t)counters->rings.count, &added);
		if (added) {
			struct ring ring;
			status = ring_open(&ring, counter->fd, sizes->pages, backward, err);
			ring.cpu = counter->cpu;
			if (status == 0)
				vec_push(&counters->rings, ring);
			if (status == 0)
				status = map_area(counters, counter, events, sizes->area_bytes, sizes->overwrite_areas, err);
			continue;
		}
		int failed = counter_set_output(counter->fd, counters->rings.items[counter->ring].fd);
		if (failed < 0) {
			errno = -failed;
			status = error_system(err, "cannot direct an event's records to a ring");
		}
	}
	idmap_fini(&rings);
	return status;
}

void counters_close(struct counters *counters)
{
	for (size_t i = 0; i < counters->areas.count; i++)
		aux_ring_close(&counters->areas.items[i]);
	for (size_t i = 0; i < counters->rings.count; i++)
		ring_close(&counters->rings.items[i]);
	vec_fini(&counters->areas);
	close_from(counters, 0);
	vec_fini(&counters->rings);
	vec_fini(&counters->list);
	vec_fini(&counters->first);
	vec_fini(&counters->states);
	cpus_fini(&counters->cpus);
	cpus_fini(&counters->offline);
}

int counters_filter(struct counters *counters, const struct events *events, struct error *err)
{
	for (size_t i = 0; i < counters->list.count; i++) {
		const struct counter *counter = &counters->list.items[i];
		const struct event *event = &events->list.items[counter->event];
		int status = event->filter && counter->fd >= 0 ? counter_set_filter(counter->fd, event->filter) : 0;
		if (status < 0)
			return error_set(err, ERROR_USAGE, "failed to set filter \"%s\" on event %s with %d (%s)", event->filter, event->name,
				-status, strerror(-status));
	}
	return 0;
}

void counters_switch(struct counters *counters, const struct events *events, uint32_t event, bool on)
{
	for (size_t i = 0; i < counters->list.count; i++) {
		const struct counter *counter = &counters->list.items[i];
		const struct event *of = &events->list.items[counter->event];
		/* of a group its leader alone, which its members follow */
		bool starts = !of->follower || (on && attr_flag(&of->attr, ATTR_DISABLED));
		bool chosen = event == UINT32_MAX ? counter->reader == i && starts : counter->event == event;
		if (chosen && counter->fd >= 0)
			(on ? counter_enable : counter_disable)(counter->fd);
	}
}

uint64_t counter_lost(const struct counter *counter, const struct attr *attr)
{
	uint64_t values[8 + 3 * 64];
	if (counter->fd < 0 || !(attr->read_format & READ_LOST) || attr->read_format & READ_GROUP)
		return 0;
	ssize_t n = counter_read(counter->fd, values, sizeof values);
	/* value, then enabled, running and id if read_format has them, then lost */
	size_t at = 1 + (attr->read_format & READ_TOTAL_TIME_ENABLED ? 1 : 0) + (attr->read_format & READ_TOTAL_TIME_RUNNING ? 1 : 0) +
		(attr->read_format & READ_ID ? 1 : 0);
	return n >= (ssize_t)((at + 1) * 8) ? values[at] : 0;
}

void counters_evlist(const struct counters *counters, const struct events *events, struct attr (*attr_of)(const struct event *event),
	struct evlist *evlist)
{
	VEC(uint64_t) ids = { 0 };
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = &events->list.items[i];
		vec_clear(&ids);
		for (size_t k = counters->first.items[i]; k < counters->first.items[i + 1]; k++)
			if (counters->list.items[k].fd >= 0)
				vec_push(&ids, counters->list.items[k].id);
		const struct attr attr = attr_of ? attr_of(event) : event->attr;
		evlist_add(evlist, &attr, ids.items, ids.count, event->name);
	}
	vec_fini(&ids);
}
