#include "analysis/ipc/ipc_sink.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "data/evlist.h"
#include "decode/intel_pt/info.h"
#include "session/trace.h"

enum { MARKS_OPEN = 64, CONFIG_BRANCHES = 4, ERROR_OVERFLOW = 7 };

/* The trace of one CPU or thread. */
struct queue {
	int32_t key;
	uint64_t from_ns;        /* where its next range starts */
	uint64_t psb_ip;         /* of the last PSB in traced code */
	bool begun, tracing, gap;
	uint8_t mode;            /* IPC_EVENT_USER … */
	uint64_t mode_ns, mode_cycle;
	size_t mode_track;
};

struct open_mark {
	uint64_t returns_to, from_ns, from_cycle;
	uint32_t name;
};

/* What a thread is in the middle of. */
struct activity {
	int32_t tid;
	bool in_call, named, by_tracepoint;
	uint32_t call;
	uint64_t call_ns, call_cycle;
	uint64_t out_ns;         /* it left its CPU; 0: it runs */
	struct open_mark marks[MARKS_OPEN];
	unsigned mark_count;
};

struct ipc_sink {
	struct ipc_options options;
	struct ipc_tracks *tracks;
	VEC(struct queue) queues;
	VEC(struct activity) threads;
	struct idmap thread_of;
	struct ipc_groups groups;
	struct ipc_facts facts;
};

struct ipc_sink *ipc_sink_new(const struct ipc_options *options, struct ipc_tracks *tracks)
{
	struct ipc_sink *sink = memory_zero(1, sizeof *sink);
	sink->options = *options;
	sink->tracks = tracks;
	sink->groups.roles = options->counters;
	strtab_add(&tracks->names, "", 0);
	return sink;
}

void ipc_sink_free(struct ipc_sink *sink)
{
	if (!sink)
		return;
	vec_fini(&sink->queues);
	vec_fini(&sink->threads);
	idmap_fini(&sink->thread_of);
	ipc_groups_fini(&sink->groups);
	free(sink);
}

static struct queue *queue_of(struct ipc_sink *sink, int32_t key)
{
	for (size_t i = 0; i < sink->queues.count; i++)
		if (sink->queues.items[i].key == key)
			return &sink->queues.items[i];
	vec_push(&sink->queues, ((struct queue){ .key = key, .mode = IPC_EVENT_UNTRACED, .mode_track = SIZE_MAX }));
	return &sink->queues.items[sink->queues.count - 1];
}

static struct activity *thread_of(struct ipc_sink *sink, int32_t tid)
{
	uint32_t index = idmap_get(&sink->thread_of, (uint32_t)tid);
	if (index == IDMAP_NONE) {
		index = (uint32_t)sink->threads.count;
		idmap_set(&sink->thread_of, (uint32_t)tid, index);
		struct activity *thread = vec_add(&sink->threads);
		thread->tid = tid;
	}
	return &sink->threads.items[index];
}

/* Whether the trace of this event has a CPU of its own. */
static bool is_per_cpu(const struct resolved *r)
{
	return r->evsel->attr.sample_type & SAMPLE_CPU;
}

static size_t track_of(struct ipc_sink *sink, const struct resolved *r, bool per_cpu)
{
	bool by_cpu = per_cpu && !sink->options.by_thread;
	size_t index = ipc_tracks_find(sink->tracks, by_cpu ? (int32_t)r->sample->cpu : -1, by_cpu ? -1 : r->tid);
	struct ipc_track *track = &sink->tracks->list.items[index];
	if (!by_cpu && (track->pid == -1 || track->comm_id != r->comm)) {
		char buffer[16];
		const char *comm = resolved_comm(r, buffer, sizeof buffer);
		track->pid = r->pid;
		track->comm_id = r->comm;
		track->comm = strtab_add_line(&sink->tracks->names, comm, strlen(comm));
	}
	return index;
}

static uint64_t time_of(const struct resolved *r)
{
	return r->sample->present & SAMPLE_TIME ? r->sample->time : 0;
}

static bool passes(const struct ipc_sink *sink, const struct resolved *r)
{
	const struct sample_filter *filter = &sink->options.filter;
	char buffer[16];
	return !time_filter_drops(&filter->time, time_of(r)) && cpu_filter_has(&filter->cpus, r->sample->cpu)
		&& (!filter->tids || number_list_has(filter->tids, r->tid)) && (!filter->pids || number_list_has(filter->pids, r->pid))
		&& (!filter->comms || name_list_has(filter->comms, resolved_comm(r, buffer, sizeof buffer)));
}

static void add_event(struct ipc_sink *sink, size_t track, enum ipc_event_kind kind, uint32_t name, uint64_t from_ns, uint64_t to_ns,
	uint64_t from_cycle)
{
	struct ipc_track *of = &sink->tracks->list.items[track];
	from_cycle = from_cycle < of->cycles ? from_cycle : of->cycles;
	vec_push(&of->events, ((struct ipc_event){ .kind = (uint8_t)kind, .name = name, .from_ns = from_ns,
		.to_ns = to_ns > from_ns ? to_ns : from_ns, .from_cycle = from_cycle, .to_cycle = of->cycles }));
}

static void add_point(struct ipc_sink *sink, const struct resolved *r, enum ipc_event_kind kind, const char *name)
{
	size_t track = track_of(sink, r, is_per_cpu(r));
	uint32_t id = strtab_add_line(&sink->tracks->names, name, strlen(name));
	uint64_t ns = time_of(r);
	add_event(sink, track, kind, id, ns, ns, UINT64_MAX);
}

/* The name of the function at an address; *start: the address is its first. NULL: unknown. */
static const char *function_at(const struct ipc_sink *sink, const struct resolved *r, uint64_t address, bool *start)
{
	const struct location *location = resolved_locate_any(r, address);
	const struct module *module = location->map ? modules_get(&r->session->model.modules, location->module) : NULL;
	uint32_t id = module ? symbols_lookup(sink->options.symbols, module, location->offset) : 0;
	if (!id)
		return NULL;
	*start = symbols_get(sink->options.symbols, module, id)->start == location->offset;
	return symbols_name(sink->options.symbols, module, id);
}

/* "read" of "__x64_sys_read"; NULL: no entry of a system call. */
static const char *call_of_entry(const char *function)
{
	static const char *const prefixes[] = { "__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__arm64_sys_", "__s390x_sys_",
		"__riscv_sys_", "__se_sys_", "__do_sys_", "ksys_" };
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(function, prefixes[i], strlen(prefixes[i])) == 0)
			return function + strlen(prefixes[i]);
	return NULL;
}

static void name_call(struct ipc_sink *sink, struct activity *thread, const char *name)
{
	thread->call = strtab_add_line(&sink->tracks->names, name, strlen(name));
	thread->named = true;
}

static void open_call(struct ipc_sink *sink, struct activity *thread, const struct resolved *r, size_t track, const char *wrapper)
{
	while (wrapper && (*wrapper == '_' || strncmp(wrapper, "GI_", 3) == 0))
		wrapper += *wrapper == '_' ? 1 : 3;
	name_call(sink, thread, wrapper && *wrapper ? wrapper : "syscall");
	thread->in_call = true;
	thread->named = thread->by_tracepoint = false;
	thread->call_ns = time_of(r);
	thread->call_cycle = sink->tracks->list.items[track].cycles;
}

static void close_call(struct ipc_sink *sink, struct activity *thread, size_t track, uint64_t ns)
{
	if (thread->in_call)
		add_event(sink, track, IPC_EVENT_SYSCALL, thread->call, thread->call_ns, ns, thread->call_cycle);
	thread->in_call = false;
}

static void follow_call(struct ipc_sink *sink, const struct resolved *r, uint32_t flags, size_t track)
{
	uint64_t from = r->sample->ip, to = r->sample->addr;
	bool start;
	struct activity *thread = thread_of(sink, r->tid);
	if (flags & TRACE_SYSCALL && flags & TRACE_CALL) {
		open_call(sink, thread, r, track, function_at(sink, r, from, &start));
	} else if (thread->in_call && to && !(to >> 63)) {
		close_call(sink, thread, track, time_of(r));
	} else if (thread->in_call && !thread->named && flags & (TRACE_CALL | TRACE_BRANCH) && to >> 63) {
		const char *function = flags & TRACE_RETURN ? NULL : function_at(sink, r, to, &start);
		const char *call = function ? call_of_entry(function) : NULL;
		if (call)
			name_call(sink, thread, call);
	}
}

static void follow_marks(struct ipc_sink *sink, const struct resolved *r, const struct trace_note *note, size_t track)
{
	struct activity *thread = thread_of(sink, r->tid);
	uint64_t to = r->sample->addr;
	if (note->flags & TRACE_RETURN)
		for (unsigned i = thread->mark_count; i-- > 0;)
			if (thread->marks[i].returns_to == to) {
				add_event(sink, track, IPC_EVENT_MARK, thread->marks[i].name, thread->marks[i].from_ns, time_of(r),
					thread->marks[i].from_cycle);
				thread->mark_count = i;
			}
	bool start = false;
	const char *function = note->flags & TRACE_RETURN || !to ? NULL : function_at(sink, r, to, &start);
	for (size_t i = 0; start && i < sink->options.mark_count; i++) {
		if (fnmatch(sink->options.marks[i], function, 0) != 0)
			continue;
		if (thread->mark_count == MARKS_OPEN) /* calls that did not return: longjmp */
			memmove(thread->marks, thread->marks + 1, --thread->mark_count * sizeof *thread->marks);
		thread->marks[thread->mark_count++] = (struct open_mark){ .returns_to = r->sample->ip + note->instruction_size,
			.from_ns = time_of(r), .from_cycle = sink->tracks->list.items[track].cycles,
			.name = strtab_add_line(&sink->tracks->names, function, strlen(function)) };
		break;
	}
}

static void follow_mode(struct ipc_sink *sink, struct queue *queue, uint64_t to, uint64_t ns, size_t track)
{
	uint8_t mode = !to ? IPC_EVENT_UNTRACED : to >> 63 ? IPC_EVENT_KERNEL : IPC_EVENT_USER;
	if (mode == queue->mode && track == queue->mode_track)
		return;
	if (queue->mode_track != SIZE_MAX)
		add_event(sink, queue->mode_track, queue->mode, 0, queue->mode_ns, ns, queue->mode_cycle);
	queue->mode = mode;
	queue->mode_ns = ns;
	queue->mode_track = track;
	queue->mode_cycle = sink->tracks->list.items[track].cycles;
}

static void take_branch(struct ipc_sink *sink, const struct resolved *r, const struct trace_note *note)
{
	bool per_cpu = is_per_cpu(r);
	struct queue *queue = queue_of(sink, per_cpu ? (int32_t)r->sample->cpu : r->tid);
	uint64_t ns = time_of(r), to = r->sample->addr;
	sink->facts.branches++;
	if (note->flags & TRACE_BEGIN || !queue->begun) {
		/* begun twice: trace is missing between; at a PSB: cycles before it are unknown */
		queue->gap |= queue->begun && queue->tracing;
		queue->gap |= !queue->tracing && queue->psb_ip && queue->psb_ip == to;
		queue->from_ns = ns;
		queue->begun = true;
	}
	queue->psb_ip = 0;
	if (!(note->flags & TRACE_POINT))
		queue->tracing = to && !(note->flags & TRACE_END);
	bool shown = passes(sink, r);
	size_t track = shown ? track_of(sink, r, per_cpu) : SIZE_MAX;
	if (note->cycles) {
		if (shown)
			ipc_track_add(&sink->tracks->list.items[track], note->cycles, note->instructions, queue->from_ns, ns, queue->gap);
		queue->from_ns = ns;
		queue->gap = false;
	} else if (shown) {
		sink->tracks->list.items[track].tail = true;
	}
	if (!shown || note->flags & TRACE_POINT)
		return;
	follow_mode(sink, queue, to, ns, track);
	follow_call(sink, r, note->flags, track);
	if (sink->options.mark_count && note->flags & TRACE_BRANCH)
		follow_marks(sink, r, note, track);
}

/* A packet that is an event: its name is that of perf's sample. */
static void take_packet(struct ipc_sink *sink, const struct resolved *r, const char *name)
{
	enum { CBR_TEXT = 64 };
	char text[CBR_TEXT];
	bool psb = strcmp(name, "psb") == 0, cbr = strcmp(name, "cbr") == 0;
	if (psb) {
		struct queue *queue = queue_of(sink, is_per_cpu(r) ? (int32_t)r->sample->cpu : r->tid);
		queue->psb_ip = r->sample->ip;
	}
	if (!passes(sink, r))
		return;
	struct { uint32_t head, khz; } raw = { 0 };
	if (cbr && r->sample->raw_size >= sizeof raw) {
		memcpy(&raw, r->sample->raw, sizeof raw);
		snprintf(text, sizeof text, "%.2f GHz (ratio %u)", (double)raw.khz / 1e6, raw.head & 0xff);
		name = text;
	}
	add_point(sink, r, psb ? IPC_EVENT_PSB : cbr ? IPC_EVENT_CBR : IPC_EVENT_POWER, psb ? "PSB" : name);
}

static void take_error(struct ipc_sink *sink, const struct resolved *r)
{
	struct cursor c = cursor_of(r->record->body, r->record->body_len, false);
	take_u32(&c); /* type */
	uint32_t code = take_u32(&c);
	int32_t cpu = (int32_t)take_u32(&c);
	take_u32(&c); /* pid */
	int32_t tid = (int32_t)take_u32(&c);
	take_u32(&c); /* format */
	take_u64(&c); /* ip */
	uint64_t ns = take_u64(&c);
	if (c.short_read)
		return;
	char message[64] = "";
	size_t length = r->record->body_len > 40 ? r->record->body_len - 40 : 0;
	text_copy(message, sizeof message, r->record->body + (length ? 40 : 0), length);
	struct queue *queue = queue_of(sink, cpu >= 0 ? cpu : tid);
	queue->gap = queue->begun = true;
	queue->tracing = false;
	if (time_filter_drops(&sink->options.filter.time, ns))
		return;
	bool by_cpu = cpu >= 0 && !sink->options.by_thread;
	size_t track = ipc_tracks_find(sink->tracks, by_cpu ? cpu : -1, by_cpu ? -1 : tid);
	add_event(sink, track, code == ERROR_OVERFLOW ? IPC_EVENT_OVERFLOW : IPC_EVENT_GAP,
		strtab_add_line(&sink->tracks->names, message, strlen(message)), ns, ns, UINT64_MAX);
}

/* By thread: the time off the CPU. By CPU: the switch. */
static void take_switch(struct ipc_sink *sink, const struct resolved *r)
{
	bool out = r->record->misc & RECORD_MISC_SWITCH_OUT;
	int32_t tid = (int32_t)r->sample->tid, cpu = (int32_t)r->sample->cpu;
	uint64_t ns = r->sample->time;
	if (time_filter_drops(&sink->options.filter.time, ns))
		return;
	struct activity *thread = thread_of(sink, tid);
	uint64_t since = thread->out_ns;
	thread->out_ns = out ? ns : 0;
	char text[32];
	snprintf(text, sizeof text, out ? "%d out" : "%d in", tid);
	uint32_t name = strtab_add(&sink->tracks->names, text, strlen(text));
	size_t of_thread = tid ? ipc_tracks_get(sink->tracks, -1, tid) : SIZE_MAX, of_cpu = ipc_tracks_get(sink->tracks, cpu, -1);
	if (of_thread != SIZE_MAX && !out && since)
		add_event(sink, of_thread, IPC_EVENT_OFF_CPU, name, since, ns, UINT64_MAX);
	if (of_thread != SIZE_MAX)
		add_event(sink, of_thread, IPC_EVENT_SWITCH, name, ns, ns, UINT64_MAX);
	if (of_cpu != SIZE_MAX && out)
		add_event(sink, of_cpu, IPC_EVENT_SWITCH, name, ns, ns, UINT64_MAX);
}

/* Tracepoints name system calls, and bound them where the trace does not show them. */
static void take_tracepoint(struct ipc_sink *sink, const struct resolved *r)
{
	const struct tracepoints *formats = *sink->options.tracepoints;
	const char *system, *event;
	if (!tracepoints_name(formats, r->evsel->attr.config, &system, &event) || !passes(sink, r))
		return;
	bool raw = strcmp(system, "raw_syscalls") == 0, enter = strncmp(event, "sys_enter", 9) == 0;
	if ((!raw && strcmp(system, "syscalls") != 0) || (!enter && strncmp(event, "sys_exit", 8) != 0))
		return;
	struct activity *thread = thread_of(sink, r->tid);
	size_t track = track_of(sink, r, sink->queues.count && sink->tracks->list.count && sink->tracks->list.items[0].cpu >= 0);
	char name[SYSCALL_NAME_SIZE] = "syscall";
	const struct tracepoint_field *field = raw ? tracepoints_field(formats, r->evsel->attr.config, "id") : NULL;
	uint64_t number;
	if (field && tracepoint_field_number(field, r->sample->raw, r->sample->raw_size, &number) && number < SYSCALL_NUMBERS)
		syscall_name(sink->options.syscalls, (int)number, name);
	else if (!raw && enter)
		snprintf(name, sizeof name, "%s", event + strlen("sys_enter_"));
	if (enter && !thread->in_call) {
		open_call(sink, thread, r, track, NULL);
		thread->by_tracepoint = true;
	}
	if (enter)
		name_call(sink, thread, name);
	else if (thread->by_tracepoint)
		close_call(sink, thread, track, time_of(r));
}

/* A CYC packet is left out if it would count fewer cycles than the threshold: a branch without one may be so much later than the cycles
 * that were counted. Source: the format of the PMU in sysfs (cyc_thresh), Intel SDM, IA32_RTIT_CTL.CycThresh. */
static uint32_t cycle_slack(uint64_t config)
{
	enum { CYC_THRESH_AT = 19, CYC_THRESH_MAX = 15 };
	uint32_t threshold = config >> CYC_THRESH_AT & CYC_THRESH_MAX;
	return threshold ? (1u << (threshold - 1)) - 1 : 0;
}

/* Whether the trace was recorded with cycle packets: without them, cycles are estimates of time. */
static void take_info(struct ipc_sink *sink, const struct resolved *r)
{
	struct pt_info info = { 0 };
	const struct evlist *evlist = session_evlist(r->session);
	if (!pt_info_read(&info, r->record))
		return;
	sink->facts.traced = true;
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct attr *attr = &evlist->events.items[i].attr;
		bool has_cycles = attr->type == info.pmu_type && attr->config & info.cyc_bit;
		if (has_cycles && cycle_slack(attr->config) > sink->tracks->slack)
			sink->tracks->slack = cycle_slack(attr->config);
		sink->facts.has_cycles |= has_cycles;
		sink->facts.timeless |= attr->type == info.pmu_type && (!(attr->config & info.tsc_bit) || !info.time.known);
	}
	sink->tracks->timeless = sink->facts.timeless;
}

static void take_group(struct ipc_sink *sink, const struct resolved *r)
{
	size_t index = track_of(sink, r, is_per_cpu(r));
	ipc_groups_take(&sink->groups, r, &sink->tracks->list.items[index]);
	sink->tracks->counted = true;
}

static void take_record(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct ipc_sink *sink = context;
	if (r->record->type == RECORD_AUXTRACE_INFO) {
		take_info(sink, r);
	} else if (r->record->type == RECORD_AUXTRACE_ERROR) {
		take_error(sink, r);
	} else if (r->record->type == RECORD_SWITCH || r->record->type == RECORD_SWITCH_CPU_WIDE) {
		take_switch(sink, r);
	} else if (r->record->type == RECORD_SAMPLE && r->evsel) {
		const struct trace_note *note = trace_note_of(r);
		if (note && r->evsel->name)
			take_packet(sink, r, r->evsel->name);
		else if (note && r->evsel->attr.config == CONFIG_BRANCHES)
			take_branch(sink, r, note);
		else if (r->evsel->attr.type == ATTR_TRACEPOINT)
			take_tracepoint(sink, r);
		else if (r->sample->read && r->evsel->attr.read_format & READ_GROUP && !sink->facts.traced && passes(sink, r))
			take_group(sink, r);
	}
}

struct sink ipc_sink_of(struct ipc_sink *sink)
{
	return (struct sink){ .context = sink, .record = take_record, .want_records = true, .serial = true };
}

struct ipc_facts ipc_sink_finish(struct ipc_sink *sink)
{
	struct ipc_tracks *tracks = sink->tracks;
	for (size_t i = 0; i < sink->queues.count; i++) {
		const struct queue *queue = &sink->queues.items[i];
		const struct ipc_track *track = queue->mode_track == SIZE_MAX ? NULL : &tracks->list.items[queue->mode_track];
		if (track && track->ranges.count)
			add_event(sink, queue->mode_track, queue->mode, 0, queue->mode_ns, track->ranges.items[track->ranges.count - 1].to_ns,
				queue->mode_cycle);
	}
	ipc_tracks_finish(tracks);
	return sink->facts;
}
