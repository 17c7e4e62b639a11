#include "analysis/blocking/blocking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/blocking/event_counts.h"
#include "analysis/blocking/kernel_part.h"
#include "analysis/blocking/lost.h"
#include "base/hash.h"
#include "data/evsel_name.h"
#include "model/thread.h"
#include "session/trace.h"

enum { FRAMES_MAX = 64, CLOCK_CPU = 0, CLOCK_TASK = 1 };

enum part { PART_USER, PART_STUB, PART_WAIT, PART_WAKE, PART_CALL, PART_ENTRY, PART_ELSE, PART_IDLE, PARTS };

/* Sums of one thread, or of one place. */
struct sums {
	uint64_t ns[PARTS];
	uint64_t direct_ns;          /* set at the end */
	uint32_t name, call;         /* texts; call of a thread: its thread id */
};

/* A system call: whether it waits or wakes shows in some of its samples. */
struct call {
	uint64_t ns[PARTS];
	bool waits;
};

/* Time in a system call by thread or place, for the end, when it is known whether the call waits. */
struct part_of_call {
	uint64_t ns;
	uint32_t call;
};

struct group {
	VEC(struct sums) list;
	struct idmap known;          /* hash of name and call → index */
	VEC(struct part_of_call) calls; /* index: of list */
	VEC(uint32_t) owners;
	struct idmap calls_known;
};

struct part_row {
	const char *name, *how;
	uint64_t ns;
	double low, high;
	bool has_time;
};

struct blocking {
	struct blocking_options options;
	struct group threads, sites;
	struct strtab texts;
	VEC(struct call) calls;      /* by text */
	uint64_t clocks[2];          /* clocks that sample user code, and the kernel: each shows all of its time */
	size_t events_known;         /* when they were counted */
	uint64_t samples, ns[PARTS], switches; /* switches: that the recording shows */
	VEC(struct part_row) rows;
	struct idmap started;        /* thread id → index in starts */
	VEC(uint64_t) starts;        /* when a thread got its CPU last */
	struct lost_samples counted;
	struct event_counts events;  /* by text: sampled events that are neither a clock nor one of options.counters */
	struct idmap descends;       /* thread of the model → whether it descends from options.parent */
	struct blocking_result result;
};

struct blocking *blocking_new(const struct blocking_options *options)
{
	struct blocking *blocking = memory_zero(1, sizeof *blocking);
	blocking->options = *options;
	return blocking;
}

static void group_fini(struct group *group)
{
	vec_fini(&group->list);
	vec_fini(&group->calls);
	vec_fini(&group->owners);
	idmap_fini(&group->known);
	idmap_fini(&group->calls_known);
}

void blocking_free(struct blocking *blocking)
{
	if (!blocking)
		return;
	group_fini(&blocking->threads);
	group_fini(&blocking->sites);
	strtab_fini(&blocking->texts);
	vec_fini(&blocking->calls);
	vec_fini(&blocking->rows);
	vec_fini(&blocking->starts);
	event_counts_fini(&blocking->events);
	idmap_fini(&blocking->started);
	idmap_fini(&blocking->descends);
	free(blocking);
}

static uint32_t text_of(struct blocking *blocking, const char *text)
{
	return strtab_add_line(&blocking->texts, text, strlen(text));
}

static struct sums *sums_of(struct group *group, uint32_t name, uint32_t call)
{
	uint64_t key = (uint64_t)name << 32 | call;
	bool added;
	uint32_t index = idmap_add(&group->known, key, (uint32_t)group->list.count, &added);
	if (added)
		vec_push(&group->list, ((struct sums){ .name = name, .call = call }));
	return &group->list.items[index];
}

/* A sample's frames with names, innermost first; the kernel's are the first ones. */
struct named {
	const char *names[FRAMES_MAX], *files[FRAMES_MAX];
	size_t count, kernel;
};

static void read_chain(const struct blocking *blocking, const struct resolved *r, struct named *n)
{
	struct chain chain = resolved_chain(r, CHAIN_INNERMOST_FIRST, FRAMES_MAX);
	const struct location *own = resolved_ip(r);
	const struct location *const *frames = chain.count ? chain.frames : &own;
	size_t count = chain.count ? chain.count : 1;
	*n = (struct named){ .count = count };
	for (size_t i = 0; i < count; i++) {
		const struct location *at = frames[i];
		n->kernel += at->cpumode == RECORD_MISC_KERNEL;
		if (at->module == MODULE_ID_NONE)
			continue;
		const struct module *module = modules_get(&r->session->model.modules, at->module);
		uint32_t id = symbols_lookup(blocking->options.symbols, module, at->offset - (i > 0 && at->offset));
		n->files[i] = module->short_name;
		n->names[i] = id ? symbols_name(blocking->options.symbols, module, id) : NULL;
	}
}

/* The innermost function of the program's own code, otherwise of its libraries. */
static const char *site_of(const struct named *n)
{
	for (size_t i = n->kernel; i < n->count; i++)
		if (n->names[i] && n->files[i] && !strstr(n->files[i], ".so") && n->files[i][0] != '[')
			return n->names[i];
	return n->kernel < n->count && n->names[n->kernel] ? n->names[n->kernel] : "[unknown]";
}

static enum part part_of(const struct resolved *r, const struct named *n, const char **call)
{
	static const enum part parts[] = { [KERNEL_WAIT] = PART_WAIT, [KERNEL_WAKE] = PART_WAKE, [KERNEL_CALL] = PART_CALL,
		[KERNEL_ENTRY] = PART_ENTRY, [KERNEL_ELSE] = PART_ELSE };
	*call = NULL;
	if (r->pid == 0 && r->tid == 0)
		return PART_IDLE;
	size_t user = n->kernel; /* its innermost frame of user code */
	bool library = user < n->count && n->files[user] && strncmp(n->files[user], "libc", 4) == 0;
	const char *stub = library && n->names[user] ? system_call_of_stub(n->names[user]) : NULL;
	enum part part = user ? parts[kernel_part_of(n->names, user, call)] : stub ? PART_STUB : PART_USER;
	/* on the way out of the kernel its function of the call has returned */
	if (!*call && stub && *stub && part != PART_ELSE)
		*call = stub;
	return part;
}

static void note_call(struct group *group, uint32_t owner, uint32_t call, uint64_t ns)
{
	bool added;
	uint32_t index = idmap_add(&group->calls_known, (uint64_t)owner << 32 | call, (uint32_t)group->calls.count, &added);
	if (added) {
		vec_push(&group->calls, ((struct part_of_call){ .call = call }));
		vec_push(&group->owners, owner);
	}
	group->calls.items[index].ns += ns;
}

static void add(struct blocking *blocking, struct group *group, struct sums *sums, enum part part, uint32_t call, uint64_t ns)
{
	sums->ns[part] += ns;
	if (part == PART_CALL && call)
		note_call(group, (uint32_t)(sums - group->list.items), call, ns);
	(void)blocking;
}

/* Whether a thread leaves a CPU: a record of that, or a sample of the scheduler's tracepoint. */
static bool is_switch(const struct resolved *r)
{
	char buffer[EVSEL_NAME_MAX];
	uint32_t type = r->record->type;
	if (type == RECORD_SWITCH || type == RECORD_SWITCH_CPU_WIDE)
		return r->record->misc & RECORD_MISC_SWITCH_OUT;
	return type == RECORD_SAMPLE && r->evsel && r->evsel->attr.type == ATTR_TRACEPOINT &&
		strcmp(evsel_name(r->evsel, buffer, sizeof buffer), "sched:sched_switch") == 0;
}

static bool is_clock(const struct evsel *evsel)
{
	return evsel && evsel->attr.type == ATTR_SOFTWARE && (evsel->attr.config == CLOCK_CPU || evsel->attr.config == CLOCK_TASK);
}

/* The time that a sample of a clock stands for. */
static uint64_t time_of_sample(struct blocking *blocking, const struct resolved *r)
{
	const struct evlist *evlist = session_evlist(r->session);
	if (blocking->events_known != evlist->events.count) {
		memset(blocking->clocks, 0, sizeof blocking->clocks);
		for (size_t i = 0; i < evlist->events.count; i++) {
			const struct evsel *evsel = &evlist->events.items[i];
			blocking->clocks[0] += is_clock(evsel) && !attr_flag(&evsel->attr, ATTR_EXCLUDE_USER);
			blocking->clocks[1] += is_clock(evsel) && !attr_flag(&evsel->attr, ATTR_EXCLUDE_KERNEL);
		}
		blocking->events_known = evlist->events.count;
	}
	uint64_t clocks = blocking->clocks[(r->record->misc & RECORD_MISC_CPUMODE_MASK) == RECORD_MISC_KERNEL];
	return r->sample->period / (clocks ? clocks : 1);
}

/* Whether a thread belongs to the measured command. */
static bool is_measured(struct blocking *blocking, const struct resolved *r)
{
	enum { GENERATIONS_MAX = 64 };
	const struct model *model = &r->session->model;
	if (!blocking->options.parent || r->thread == THREAD_NONE)
		return !blocking->options.parent;
	uint32_t known = idmap_get(&blocking->descends, r->thread);
	if (known != IDMAP_NONE)
		return known;
	bool descends = false;
	uint32_t id = r->thread;
	for (unsigned i = 0; i < GENERATIONS_MAX && !descends && id != THREAD_NONE; i++) {
		const struct thread *thread = model_thread_of(model, id);
		uint32_t parent = thread->ppid > 0 ? model_thread(model, thread->ppid, thread->born) : THREAD_NONE;
		descends = thread->pid != blocking->options.parent && parent != THREAD_NONE &&
			model_thread_of(model, parent)->pid == blocking->options.parent;
		id = parent;
	}
	idmap_set(&blocking->descends, r->thread, descends);
	return descends;
}

static void note_start(struct blocking *blocking, const struct resolved *r)
{
	bool added;
	uint32_t index = idmap_add(&blocking->started, (uint32_t)r->tid, (uint32_t)blocking->starts.count, &added);
	if (added)
		vec_push(&blocking->starts, 0);
	blocking->starts.items[index] = r->sample->time;
}

/* A sample of an event in user code: how long after a switch. */
static void take_count(struct blocking *blocking, const struct resolved *r)
{
	char buffer[EVSEL_NAME_MAX];
	const char *name = evsel_name(r->evsel, buffer, sizeof buffer);
	enum ipc_role role = ipc_role_of(&blocking->options.counters, name);
	uint32_t index = idmap_get(&blocking->started, (uint32_t)r->tid);
	bool counts = role != IPC_ROLE_NONE || (!is_clock(r->evsel) && r->evsel->attr.type != ATTR_TRACEPOINT && !trace_note_of(r));
	if (!counts || index == IDMAP_NONE || (r->record->misc & RECORD_MISC_CPUMODE_MASK) != RECORD_MISC_USER)
		return;
	struct lost_samples *counted = &blocking->counted;
	bool elsewhere = r->sample->time - blocking->starts.items[index] >= blocking->options.window_ns;
	double period = (double)r->sample->period;
	if (role == IPC_ROLE_NONE) {
		event_counts_add(&blocking->events, text_of(blocking, name), elsewhere, period);
		return;
	}
	(role == IPC_ROLE_CYCLES ? counted->cycles : counted->instructions)[elsewhere] += period;
	(role == IPC_ROLE_CYCLES ? counted->cycle_squares : counted->instruction_squares)[elsewhere] += period * period;
}

static void on_record(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct blocking *blocking = context;
	struct named n;
	const char *name;
	char buffer[16], thread[64];
	if (is_switch(r))
		blocking->switches++;
	else if (r->record->type == RECORD_SWITCH || r->record->type == RECORD_SWITCH_CPU_WIDE)
		note_start(blocking, r);
	if (r->record->type == RECORD_SAMPLE && r->evsel && is_measured(blocking, r))
		take_count(blocking, r);
	if (r->record->type != RECORD_SAMPLE || !is_clock(r->evsel) || !is_measured(blocking, r))
		return;
	read_chain(blocking, r, &n);
	enum part part = part_of(r, &n, &name);
	uint64_t ns = time_of_sample(blocking, r);
	uint32_t call = text_of(blocking, name ? name : "");
	while (blocking->calls.count <= call)
		(void)vec_add(&blocking->calls);
	blocking->samples++;
	blocking->ns[part] += ns;
	if (name)
		blocking->calls.items[call].ns[part] += ns;
	snprintf(thread, sizeof thread, "%s", resolved_comm(r, buffer, sizeof buffer));
	add(blocking, &blocking->threads, sums_of(&blocking->threads, text_of(blocking, thread), (uint32_t)r->tid), part, name ? call : 0, ns);
	if (part != PART_USER && part != PART_ELSE && part != PART_IDLE)
		add(blocking, &blocking->sites, sums_of(&blocking->sites, text_of(blocking, site_of(&n)), call), part, name ? call : 0, ns);
}

struct sink blocking_sink(struct blocking *blocking)
{
	(void)text_of(blocking, ""); /* text 0: no system call */
	return (struct sink){ .context = blocking, .record = on_record, .serial = true, .want_records = true };
}

/* A system call waits or wakes if that is more than a hundredth of it: a call that is preempted does not. */
static double share_of_waiting_calls(struct blocking *blocking)
{
	enum { LEAST = 100 };
	uint64_t waiting = 0, all = 0;
	for (size_t i = 1; i < blocking->calls.count; i++) {
		struct call *call = &blocking->calls.items[i];
		uint64_t blocked = call->ns[PART_WAIT] + call->ns[PART_WAKE], whole = blocked + call->ns[PART_CALL];
		call->waits = blocked * LEAST > whole;
		waiting += call->waits ? whole : 0;
		all += whole;
	}
	return all ? (double)waiting / (double)all : 0;
}

static void sum_direct(const struct blocking *blocking, struct group *group, double share)
{
	for (size_t i = 0; i < group->list.count; i++) {
		struct sums *sums = &group->list.items[i];
		sums->direct_ns = sums->ns[PART_WAIT] + sums->ns[PART_WAKE] + (uint64_t)(share * (double)(sums->ns[PART_ENTRY] + sums->ns[PART_STUB]));
	}
	for (size_t i = 0; i < group->calls.count; i++)
		if (blocking->calls.items[group->calls.items[i].call].waits)
			group->list.items[group->owners.items[i]].direct_ns += group->calls.items[i].ns;
}

static int by_direct(const void *a, const void *b)
{
	const struct sums *x = a, *y = b;
	return (x->direct_ns < y->direct_ns) - (x->direct_ns > y->direct_ns);
}

static void sort_sums(struct group *group)
{
	if (group->list.count)
		qsort(group->list.items, group->list.count, sizeof(struct sums), by_direct);
}

/* Half the width of the 95 % interval of a share that n samples show. A trace shows it exactly. */
static double uncertainty(double share, uint64_t n)
{
	double spread = share * (1 - share);
	return n ? 1.96 * sqrt((spread > 0 ? spread : 0) / (double)n) + 1.0 / (double)n : 0;
}

static double within(double share)
{
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

static void add_row(struct blocking *blocking, const char *name, uint64_t ns, const char *how)
{
	const struct blocking_result *result = &blocking->result;
	double share = result->cpu_ns ? (double)ns / (double)result->cpu_ns : 0, half = uncertainty(share, result->samples);
	vec_push(&blocking->rows, ((struct part_row){ .name = name, .how = how, .ns = ns, .low = within(share - half),
		.high = within(share + half), .has_time = true }));
}

static struct cell percent(double share)
{
	return (struct cell){ .kind = CELL_SHARE, .share = { .part = (uint64_t)(share * 1e6 + 0.5), .whole = 1000000 } };
}

static const struct table_column part_columns[] = {
	{ "part", "Part", NULL, CELL_TEXT }, { "time", "Time", "ns", CELL_TIME }, { "share", "Share", NULL, CELL_SHARE },
	{ "low", "At least", NULL, CELL_SHARE }, { "high", "At most", NULL, CELL_SHARE }, { "how", "How", NULL, CELL_TEXT },
};

static size_t part_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ((struct blocking *)context)->rows.count : 0;
}

static struct cell part_cell(void *context, uint64_t number, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct blocking *blocking = context;
	const struct part_row *row = &blocking->rows.items[number - 1];
	uint64_t cpu_ns = blocking->result.cpu_ns;
	switch (column) {
	case 0:
		return cell_text(row->name);
	case 1:
		return row->has_time ? cell_time(row->ns) : cell_absent();
	case 2:
		return row->has_time && cpu_ns ? percent((double)row->ns / (double)cpu_ns) : cell_absent();
	case 3:
		return percent(row->low);
	case 4:
		return percent(row->high);
	default:
		return cell_text(row->how);
	}
}

static const struct table_column thread_columns[] = {
	{ "comm", "Thread", NULL, CELL_TEXT }, { "tid", "TID", NULL, CELL_COUNT }, { "time", "CPU time", "ns", CELL_TIME },
	{ "user", "User", "ns", CELL_TIME }, { "waiting", "Wait, wake", "ns", CELL_TIME }, { "direct", "Direct", "ns", CELL_TIME },
	{ "share", "Share", NULL, CELL_SHARE },
};
static const struct table_column site_columns[] = {
	{ "site", "Function", NULL, CELL_TEXT }, { "call", "System call", NULL, CELL_TEXT }, { "waiting", "Wait, wake", "ns", CELL_TIME },
	{ "direct", "Direct", "ns", CELL_TIME }, { "share", "Share", NULL, CELL_SHARE },
};

static size_t thread_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ((struct blocking *)context)->threads.list.count : 0;
}

static size_t site_count(void *context, uint64_t parent)
{
	const struct blocking *blocking = context;
	size_t count = 0;
	while (parent == TABLE_TOP && count < blocking->sites.list.count && blocking->sites.list.items[count].direct_ns)
		count++;
	return count;
}

static uint64_t cpu_of(const struct sums *sums)
{
	uint64_t ns = 0;
	for (unsigned part = 0; part < PART_IDLE; part++)
		ns += sums->ns[part];
	return ns;
}

static struct cell share_of(uint64_t part, uint64_t whole)
{
	return whole ? percent((double)part / (double)whole) : cell_absent();
}

static struct cell thread_cell(void *context, uint64_t number, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct blocking *blocking = context;
	const struct sums *sums = &blocking->threads.list.items[number - 1];
	uint64_t cpu = cpu_of(sums);
	switch (column) {
	case 0:
		return cell_text(strtab_text(&blocking->texts, sums->name));
	case 1:
		return cell_count(sums->call);
	case 2:
		return cell_time(cpu);
	case 3:
		return cell_time(sums->ns[PART_USER]);
	case 4:
		return cell_time(sums->ns[PART_WAIT] + sums->ns[PART_WAKE]);
	case 5:
		return cell_time(sums->direct_ns);
	default:
		return share_of(sums->direct_ns, cpu);
	}
}

static struct cell site_cell(void *context, uint64_t number, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct blocking *blocking = context;
	const struct sums *sums = &blocking->sites.list.items[number - 1];
	switch (column) {
	case 0:
		return cell_text(strtab_text(&blocking->texts, sums->name));
	case 1:
		return sums->call ? cell_text(strtab_text(&blocking->texts, sums->call)) : cell_absent();
	case 2:
		return cell_time(sums->ns[PART_WAIT] + sums->ns[PART_WAKE]);
	case 3:
		return cell_time(sums->direct_ns);
	default:
		return share_of(sums->direct_ns, blocking->result.cpu_ns);
	}
}

enum { EVENT_NAME, EVENT_AFTER, EVENT_ELSEWHERE, EVENT_RATE_AFTER, EVENT_RATE_ELSEWHERE, EVENT_EXTRA, EVENT_LOW, EVENT_HIGH };

static const struct table_column event_columns[] = {
	{ "event", "Event", NULL, CELL_TEXT }, { "after", "After switches", NULL, CELL_COUNT }, { "elsewhere", "Elsewhere", NULL, CELL_COUNT },
	{ "after_rate", "Per 1000 instructions", NULL, CELL_REAL }, { "elsewhere_rate", "Elsewhere per 1000", NULL, CELL_REAL },
	{ "extra", "More by switches", NULL, CELL_NUMBER }, { "low", "At least", NULL, CELL_NUMBER }, { "high", "At most", NULL, CELL_NUMBER },
};

static size_t event_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ((struct blocking *)context)->events.list.count : 0;
}

static struct cell event_cell(void *context, uint64_t number, size_t column, __attribute__((unused)) struct str *scratch)
{
	static const double PER = 1000;
	const struct blocking *blocking = context;
	const struct event_count *event = &blocking->events.list.items[number - 1];
	const struct event_extra extra = event_extra_of(event, &blocking->counted);
	if (column > EVENT_ELSEWHERE && !extra.known)
		return cell_absent();
	switch (column) {
	case EVENT_NAME:
		return cell_text(strtab_text(&blocking->texts, event->name));
	case EVENT_AFTER:
	case EVENT_ELSEWHERE:
		return cell_count((uint64_t)event->counts[column == EVENT_ELSEWHERE]);
	case EVENT_RATE_AFTER:
	case EVENT_RATE_ELSEWHERE:
		return (struct cell){ .kind = CELL_REAL, .real = PER * extra.rates[column == EVENT_RATE_ELSEWHERE] };
	case EVENT_EXTRA:
		return cell_number(llround(extra.count));
	default:
		return cell_number(llround(column == EVENT_LOW ? extra.low : extra.high));
	}
}

static void make_tables(struct blocking *blocking)
{
	struct blocking_result *result = &blocking->result;
#define COUNT(array) (sizeof(array) / sizeof *(array))
	result->tables[BLOCKING_PARTS] = (struct table){ .name = "parts", .columns = part_columns, .column_count = COUNT(part_columns),
		.context = blocking, .row_count = part_count, .row = table_row_in_order, .cell = part_cell,
		.facts = result->facts, .fact_count = COUNT(result->facts) };
	result->tables[BLOCKING_THREADS] = (struct table){ .name = "threads", .columns = thread_columns, .column_count = COUNT(thread_columns),
		.context = blocking, .row_count = thread_count, .row = table_row_in_order, .cell = thread_cell };
	result->tables[BLOCKING_SITES] = (struct table){ .name = "sites", .columns = site_columns, .column_count = COUNT(site_columns),
		.context = blocking, .row_count = site_count, .row = table_row_in_order, .cell = site_cell };
	result->tables[BLOCKING_EVENTS] = (struct table){ .name = "events", .columns = event_columns, .column_count = COUNT(event_columns),
		.context = blocking, .row_count = event_count, .row = table_row_in_order, .cell = event_cell };
#undef COUNT
	result->facts[0] = (struct table_fact){ "samples", cell_count(result->samples) };
	result->facts[1] = (struct table_fact){ "switches", blocking->options.switches_known ? cell_count(blocking->options.switches) :
		cell_absent() };
	result->facts[2] = (struct table_fact){ "saved_low", percent(result->saved_low) };
	result->facts[3] = (struct table_fact){ "saved_high", percent(result->saved_high) };
	result->facts[4] = (struct table_fact){ "saved_low_without_calls", percent(result->calls_low) };
}

/* The user work that is slower after the kernel has returned: measured, otherwise bounded. lost[0] and lost[1]: least and most. */
static void add_lost(struct blocking *blocking, const struct lost *traced, uint64_t user, double lost[static 2])
{
	static const char *const names[] = { "user work lost after switches", "user work lost after other returns" };
	const struct blocking_options *options = &blocking->options;
	double all = blocking->result.cpu_ns ? (double)blocking->result.cpu_ns : 1;
	struct lost counted;
	lost_read_samples(&counted, &blocking->counted);
	bool has_trace = lost_after(traced, LOST_SWITCHES).known;
	for (unsigned place = LOST_SWITCHES; place <= (has_trace ? LOST_CALLS : LOST_SWITCHES); place++) {
		struct lost_share share = lost_after(has_trace ? traced : &counted, (enum lost_place)place);
		struct part_row row = { .name = names[place], .ns = (uint64_t)(share.share * (double)user), .low = share.lower * (double)user / all,
			.high = share.upper * (double)user / all, .has_time = true, .how = has_trace ? "measured by the trace" : "measured by counters" };
		if (!share.known) {
			uint64_t most = options->switches * options->window_ns;
			row = (struct part_row){ .name = names[place], .high = (double)(options->switches_known && most < user ? most : user) / all,
				.how = options->switches_known ? "bounded by the number of switches" : "bounded by the user work" };
		}
		vec_push(&blocking->rows, row);
		lost[0] += row.low;
		lost[1] += row.high;
	}
}

/* Without samples of a clock, the times of a trace. Returns those of calls that wait in other occurrences. */
static uint64_t take_trace(struct blocking *blocking, struct lost *traced)
{
	struct traced_times times;
	if (!blocking->options.tracks)
		return 0;
	lost_read_trace(traced, &times, blocking->options.tracks, blocking->options.window_ns, blocking->options.width);
	if (blocking->samples)
		return 0;
	blocking->ns[PART_USER] = times.user;
	blocking->ns[PART_WAIT] = times.waiting;
	blocking->ns[PART_CALL] = times.calls;
	blocking->ns[PART_ELSE] = times.other;
	return times.calls;
}

const struct blocking_result *blocking_finish(struct blocking *blocking)
{
	struct blocking_result *result = &blocking->result;
	const uint64_t *ns = blocking->ns;
	struct lost traced = { 0 };
	uint64_t traced_calls = take_trace(blocking, &traced);
	double share = share_of_waiting_calls(blocking);
	if (!blocking->options.switches_known && blocking->switches) {
		blocking->options.switches_known = true;
		blocking->options.switches = blocking->switches;
	}
	uint64_t path = (uint64_t)(share * (double)(ns[PART_ENTRY] + ns[PART_STUB])), waiting = ns[PART_WAIT] + ns[PART_WAKE];
	path += traced_calls;
	for (size_t i = 1; i < blocking->calls.count; i++)
		path += blocking->calls.items[i].waits ? blocking->calls.items[i].ns[PART_CALL] : 0;
	for (unsigned part = 0; part < PART_IDLE; part++)
		result->cpu_ns += ns[part];
	result->samples = blocking->samples;
	uint64_t stubs = (uint64_t)(share * (double)ns[PART_STUB]), user = ns[PART_USER] + ns[PART_STUB] - stubs;
	double lost[2] = { 0 };
	add_row(blocking, "user work", user, "measured");
	add_row(blocking, "wait and switch", ns[PART_WAIT], "measured");
	add_row(blocking, "wake-up", ns[PART_WAKE], "measured");
	add_row(blocking, "system calls that wait or wake", path, "measured");
	add_row(blocking, "rest of the kernel", result->cpu_ns - user - waiting - path, "measured");
	double all = result->cpu_ns ? (double)result->cpu_ns : 1, low = (double)waiting / all, high = (double)(waiting + path) / all;
	add_lost(blocking, &traced, user, lost);
	result->saved_low = within(low - uncertainty(low, result->samples) + lost[0]);
	result->calls_low = within(high - uncertainty(high, result->samples) + lost[0]);
	result->saved_high = within(high + uncertainty(high, result->samples) + lost[1]);
	if (ns[PART_IDLE])
		vec_push(&blocking->rows, ((struct part_row){ .name = "idle", .ns = ns[PART_IDLE], .has_time = false, .how = "not CPU time" }));
	sum_direct(blocking, &blocking->threads, share);
	sum_direct(blocking, &blocking->sites, share);
	sort_sums(&blocking->threads);
	sort_sums(&blocking->sites);
	make_tables(blocking);
	return result;
}
