#include "analysis/timechart/timechart.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/sched/chain.h"
#include "data/evsel_name.h"

enum layout_kind { LAYOUT_ELSE, LAYOUT_IDLE, LAYOUT_CLOCK, LAYOUT_BEGIN, LAYOUT_END };

struct timechart_layout {
	enum layout_kind kind;
	enum io_kind io;
	const struct tracepoint_field *value, *cpu; /* state, descriptor or result; cpu_id */
};

static const struct {
	const char *name;
	enum io_kind kind;
} calls[] = {
	{ "read", IO_READ }, { "pread64", IO_READ }, { "readv", IO_READ }, { "preadv", IO_READ },
	{ "write", IO_WRITE }, { "pwrite64", IO_WRITE }, { "writev", IO_WRITE }, { "pwritev", IO_WRITE },
	{ "sync", IO_SYNC }, { "sync_file_range", IO_SYNC }, { "fsync", IO_SYNC }, { "msync", IO_SYNC },
	{ "recvfrom", IO_RECEIVE }, { "recvmmsg", IO_RECEIVE }, { "recvmsg", IO_RECEIVE },
	{ "sendto", IO_SEND }, { "sendmsg", IO_SEND }, { "sendmmsg", IO_SEND },
	{ "epoll_pwait", IO_POLL }, { "epoll_wait", IO_POLL }, { "poll", IO_POLL }, { "ppoll", IO_POLL }, { "pselect6", IO_POLL },
	{ "select", IO_POLL },
};

size_t timechart_call_count(void)
{
	return sizeof calls / sizeof *calls;
}

const char *timechart_call_name(size_t index)
{
	return calls[index].name;
}

static const char *after(const char *text, const char *start)
{
	size_t len = strlen(start);
	return strncmp(text, start, len) == 0 ? text + len : NULL;
}

static bool call_of(const char *name, struct timechart_layout *layout)
{
	const char *entered = after(name, "syscalls:sys_enter_"), *left = after(name, "syscalls:sys_exit_");
	for (size_t i = 0; (entered || left) && i < sizeof calls / sizeof *calls; i++)
		if (strcmp(entered ? entered : left, calls[i].name) == 0) {
			layout->kind = entered ? LAYOUT_BEGIN : LAYOUT_END;
			layout->io = calls[i].kind;
			return true;
		}
	return false;
}

static struct timechart_layout layout_of(const struct timechart *chart, const struct evsel *evsel)
{
	char buffer[EVSEL_NAME_MAX];
	struct timechart_layout layout = { .kind = LAYOUT_ELSE };
	const char *name = evsel->attr.type == ATTR_TRACEPOINT ? evsel_name(evsel, buffer, sizeof buffer) : "", *value = "state";
	if (strcmp(name, "power:cpu_idle") == 0)
		layout.kind = LAYOUT_IDLE;
	else if (strcmp(name, "power:cpu_frequency") == 0)
		layout.kind = LAYOUT_CLOCK;
	else if (call_of(name, &layout))
		value = layout.kind == LAYOUT_BEGIN ? "fd" : "ret";
	else
		return layout;
	layout.value = tracepoints_field(chart->reader.tracepoints, evsel->attr.config, value);
	layout.cpu = tracepoints_field(chart->reader.tracepoints, evsel->attr.config, "cpu_id");
	return layout;
}

static const struct timechart_layout *layout_at(struct timechart *chart, const struct resolved *r)
{
	while (chart->layouts.count <= r->event) {
		const struct evsel *evsel = &session_evlist(r->session)->events.items[chart->layouts.count];
		vec_push(&chart->layouts, layout_of(chart, evsel));
	}
	return &chart->layouts.items[r->event];
}

static struct timechart_cpu *cpu_at(struct timechart *chart, int32_t cpu)
{
	while (chart->cpus.count <= (size_t)cpu)
		(void)vec_add(&chart->cpus);
	return &chart->cpus.items[cpu];
}

static bool is_chosen(const struct timechart_options *options, const char *name, int32_t tid)
{
	for (size_t i = 0; i < options->chosen_count; i++) {
		long number = strtol(options->chosen[i], NULL, 10);
		if (strcmp(options->chosen[i], name) == 0 || (number > 0 && number == tid))
			return true;
	}
	return false;
}

/* The task as the current event names it. */
static struct timechart_task *task_at(struct timechart *chart, uint32_t index)
{
	while (chart->tasks.count <= index)
		(void)vec_add(&chart->tasks);
	struct timechart_task *task = &chart->tasks.items[index];
	const char *name = sched_task_name(&chart->reader, index);
	if (name != task->name) {
		task->name = name;
		task->parent = sched_task_parent(&chart->reader, index);
		task->chosen |= is_chosen(&chart->options, name, chart->reader.states.tasks.items[index].tid);
	}
	return task;
}

static void add_bar(struct timechart_task *task, uint64_t from, uint64_t to, unsigned kind, uint32_t about)
{
	if (!from || to <= from)
		return;
	lane_add(&task->lane, from, to, kind, about);
	task->first = task->first ? task->first : from;
	task->last = to;
}

/* The wait before a turn, up to `end`. */
static void add_wait(struct timechart_task *task, const struct turn *turn, uint64_t end)
{
	uint64_t ready = turn->ready ? turn->ready : end;
	if (turn->wait_lost) {
		add_bar(task, turn->previous_out, end, TIMECHART_UNKNOWN, 0);
		return;
	}
	if (turn->letter == 'D')
		add_bar(task, turn->previous_out, ready, TIMECHART_BLOCKED, turn->reason);
	add_bar(task, turn->ready, end, TIMECHART_WAITING, 0);
}

static bool keep_wake(struct timechart *chart, const struct timechart_wake *wake)
{
	struct timechart_task *task = &chart->tasks.items[wake->task];
	uint64_t grain = chart->wake_grain ? wake->time / chart->wake_grain : wake->time;
	if (task->waker == wake->waker && task->woken == grain)
		return false;
	task->waker = wake->waker;
	task->woken = grain;
	return true;
}

static void add_wake(struct timechart *chart, uint32_t index, const struct turn *turn)
{
	enum { FIRST_GRAIN_NS = 4096 };
	bool known = turn->waker > 0 && !turn->by_interrupt;
	const struct timechart_wake wake = { .time = turn->ready, .task = index,
		.waker = known ? states_find(&chart->reader.states, turn->waker, CPU_NONE) : STATES_NO_TASK };
	if (!turn->ready || turn->letter == 'R' || !keep_wake(chart, &wake))
		return;
	vec_push(&chart->wakes, wake);
	while (chart->wakes.count > TIMECHART_WAKES_MAX) {
		size_t count = 0;
		chart->wake_grain = chart->wake_grain ? 2 * chart->wake_grain : FIRST_GRAIN_NS;
		for (size_t i = 0; i < chart->wakes.count; i++)
			if (keep_wake(chart, &chart->wakes.items[i]))
				chart->wakes.items[count++] = chart->wakes.items[i];
		chart->wakes.count = count;
	}
}

/* What a CPU did since its last known turn is unknown if the turn began before it was seen. */
static void note_cpu(struct timechart_cpu *cpu, const struct turn *turn, uint64_t end)
{
	if (turn->run_lost && cpu->known_to && turn->in > cpu->known_to)
		lane_add(&cpu->running, cpu->known_to, turn->in, TIMECHART_UNKNOWN, LANE_SEVERAL);
	cpu->known_to = end;
}

/* When a task began to run: what runs when the recording of a CPU begins has run since. 0: unknown. */
static uint64_t start_of(struct timechart *chart, const struct turn *turn)
{
	bool first = turn->cpu >= 0 && !cpu_at(chart, turn->cpu)->known_to;
	return turn->in ? turn->in : first && turn->out && !turn->run_lost ? chart->first : 0;
}

static void add_turn(struct timechart *chart, uint32_t index, const struct turn *turn, uint64_t end)
{
	uint64_t in = start_of(chart, turn);
	bool placed = in && turn->cpu >= 0, runs = placed && end > in;
	if (placed)
		note_cpu(cpu_at(chart, turn->cpu), turn, end);
	if (task_is_idle(&chart->reader.states.tasks.items[index]))
		return;
	struct timechart_task *task = &chart->tasks.items[index];
	add_wait(task, turn, in ? in : end);
	add_wake(chart, index, turn);
	if (!runs)
		return;
	add_bar(task, in, end, TIMECHART_RUNNING, (uint32_t)turn->cpu);
	lane_add(&cpu_at(chart, turn->cpu)->running, in, end, TIMECHART_RUNNING, index);
}

static void turn_ends(void *context, uint32_t index, const struct turn *turn)
{
	struct timechart *chart = context;
	(void)task_at(chart, index);
	add_turn(chart, index, turn, turn->out);
}

static void end_idle(struct timechart_cpu *cpu, uint64_t time)
{
	if (cpu->idle_since && time > cpu->idle_since)
		lane_add(&cpu->idle, cpu->idle_since, time, cpu->idle_state < LANE_KINDS ? cpu->idle_state : LANE_KINDS - 1, cpu->idle_state);
	cpu->idle_since = 0;
}

static void set_clock(struct timechart *chart, struct timechart_cpu *cpu, uint64_t time, uint32_t khz)
{
	struct timechart_clock *last = cpu->clocks.count ? &cpu->clocks.items[cpu->clocks.count - 1] : NULL;
	chart->most_khz = khz > chart->most_khz ? khz : chart->most_khz;
	if (last && time < last->time + cpu->clock_grain) {
		last->khz = khz;
		return;
	}
	vec_push(&cpu->clocks, ((struct timechart_clock){ time, khz }));
	if (cpu->clocks.count <= TIMECHART_CLOCKS_MAX)
		return;
	cpu->clock_grain = 2 * ((chart->last - chart->first) / TIMECHART_CLOCKS_MAX) + 1;
	size_t count = 1;
	for (size_t i = 1; i < cpu->clocks.count; i++) {
		struct timechart_clock *before = &cpu->clocks.items[count - 1];
		if (cpu->clocks.items[i].time < before->time + cpu->clock_grain)
			before->khz = cpu->clocks.items[i].khz;
		else
			cpu->clocks.items[count++] = cpu->clocks.items[i];
	}
	cpu->clocks.count = count;
}

static uint64_t number_of(const struct tracepoint_field *field, const struct sample *sample)
{
	uint64_t value;
	return field && tracepoint_field_number(field, sample->raw, sample->raw_size, &value) ? value : 0;
}

static void take_power(struct timechart *chart, const struct timechart_layout *layout, const struct sched_event *event)
{
	const struct sample *sample = event->r->sample;
	uint64_t number = number_of(layout->cpu, sample);
	uint32_t value = (uint32_t)number_of(layout->value, sample);
	if (number >= STATES_CPUS_MAX)
		return;
	struct timechart_cpu *cpu = cpu_at(chart, (int32_t)number);
	if (layout->kind == LAYOUT_CLOCK) {
		set_clock(chart, cpu, event->time, value);
		return;
	}
	end_idle(cpu, event->time);
	if (value != UINT32_MAX) { /* which ends the idle state */
		cpu->idle_since = event->time;
		cpu->idle_state = value;
	}
}

static void take_call(struct timechart *chart, const struct timechart_layout *layout, const struct sched_event *event)
{
	const struct sample *sample = event->r->sample;
	uint32_t index = event->tid > 0 ? states_task(&chart->reader.states, event->tid, CPU_NONE) : STATES_NO_TASK;
	if (index == STATES_NO_TASK)
		return;
	struct timechart_task *task = task_at(chart, index);
	uint64_t value = number_of(layout->value, sample);
	if (layout->kind == LAYOUT_BEGIN) {
		io_bars_begin(&task->io, layout->io, event->time, (int32_t)value);
		task->first = task->first ? task->first : event->time;
	} else if (io_bars_end(&task->io, &chart->options.io, layout->io, event->time, (int64_t)value)) {
		chart->calls++;
		task->last = event->time;
	}
}

static void take_event(void *context, const struct sched_event *event)
{
	struct timechart *chart = context;
	bool is_sample = event->kind < SCHED_KINDS_OF_SAMPLES;
	if (!is_sample || !event->time)
		return;
	chart->first = chart->first && chart->first <= event->time ? chart->first : event->time;
	chart->last = event->time > chart->last ? event->time : chart->last;
	if (event->kind == SCHED_SWITCH && chart->options.symbols && event->change.previous &&
	    event->r->sample->present & SAMPLE_CALLCHAIN) {
		enum wait_reason reason = sched_chain_reason(event->r, chart->options.symbols);
		if (reason)
			states_hint_once(&chart->reader.states, event->change.previous, reason);
	}
	if (event->kind != SCHED_ELSE)
		return;
	const struct timechart_layout *layout = layout_at(chart, event->r);
	if (layout->kind == LAYOUT_IDLE || layout->kind == LAYOUT_CLOCK)
		take_power(chart, layout, event);
	else if (layout->kind != LAYOUT_ELSE)
		take_call(chart, layout, event);
}

void timechart_init(struct timechart *chart, const struct timechart_options *options)
{
	*chart = (struct timechart){ .options = *options };
	sched_reader_init(&chart->reader, &(struct sched_analysis){ .context = chart, .event = take_event, .turn_ends = turn_ends }, false);
	chart->reader.places = options->symbols != NULL;
}

void timechart_fini(struct timechart *chart)
{
	for (size_t i = 0; i < chart->cpus.count; i++) {
		lane_fini(&chart->cpus.items[i].running);
		lane_fini(&chart->cpus.items[i].idle);
		vec_fini(&chart->cpus.items[i].clocks);
	}
	for (size_t i = 0; i < chart->tasks.count; i++) {
		lane_fini(&chart->tasks.items[i].lane);
		io_bars_fini(&chart->tasks.items[i].io);
	}
	vec_fini(&chart->cpus);
	vec_fini(&chart->tasks);
	vec_fini(&chart->wakes);
	vec_fini(&chart->layouts);
	vec_fini(&chart->shown);
	sched_reader_fini(&chart->reader);
}

struct sink timechart_sink(struct timechart *chart)
{
	return sched_reader_sink(&chart->reader);
}

/* What a task that has not ended does at the end. */
static void end_tasks(struct timechart *chart)
{
	const struct states *states = &chart->reader.states;
	for (uint32_t i = 0; i < states->tasks.count; i++) {
		const struct task *task = &states->tasks.items[i];
		if (!task_is_idle(task) && task->state != TASK_UNKNOWN && task->state != TASK_ENDED) {
			(void)task_at(chart, i);
			add_turn(chart, i, &task->turn, chart->last);
		}
	}
	for (size_t i = 0; i < chart->cpus.count; i++)
		end_idle(&chart->cpus.items[i], chart->last);
}

static void choose(struct timechart *chart, uint64_t least)
{
	vec_clear(&chart->shown);
	for (uint32_t i = 0; i < chart->tasks.count; i++) {
		const struct timechart_task *task = &chart->tasks.items[i];
		uint64_t amount = chart->calls ? task->io.bytes : task->lane.total[TIMECHART_RUNNING];
		bool idle = task_is_idle(&chart->reader.states.tasks.items[i]);
		if (task->name && !idle && (chart->options.chosen_count ? task->chosen : amount >= least))
			vec_push(&chart->shown, i);
	}
}

static int by_parent(const void *a, const void *b, void *context)
{
	const struct timechart *chart = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct timechart_task *first = &chart->tasks.items[x], *second = &chart->tasks.items[y];
	int32_t tid = chart->reader.states.tasks.items[x].tid, other = chart->reader.states.tasks.items[y].tid;
	if (first->parent != second->parent)
		return first->parent < second->parent ? -1 : 1;
	return tid != other ? (tid < other ? -1 : 1) : (x > y) - (x < y);
}

/* At most BARS_MAX bars in all, unless a bar for each pixel needs more. */
static void coarsen_lanes(struct timechart *chart)
{
	enum { BARS_MAX = 40000, LANE_PIECES_MAX = 8000 };
	size_t lanes = 2 * chart->cpus.count + chart->shown.count + 1;
	uint64_t pieces = BARS_MAX / lanes < LANE_PIECES_MAX ? BARS_MAX / lanes : LANE_PIECES_MAX;
	uint64_t grain = (chart->last - chart->first) / (pieces > chart->options.pixels ? pieces : chart->options.pixels + 1);
	for (size_t i = 0; i < chart->cpus.count; i++) {
		lane_coarsen(&chart->cpus.items[i].running, grain);
		lane_coarsen(&chart->cpus.items[i].idle, grain);
	}
	for (size_t i = 0; i < chart->shown.count; i++)
		lane_coarsen(&chart->tasks.items[chart->shown.items[i]].lane, grain);
}

static void choose_tasks(struct timechart *chart)
{
	enum { LEAST_NS = 10000000, LEAST_BYTES = 1 << 20 };
	if (!chart->options.least_tasks)
		return;
	for (uint64_t least = chart->calls ? LEAST_BYTES : LEAST_NS; least; least /= 10) {
		choose(chart, least);
		if (chart->shown.count >= chart->options.least_tasks || chart->options.chosen_count)
			break;
	}
	if (chart->shown.count)
		qsort_r(chart->shown.items, chart->shown.count, sizeof *chart->shown.items, by_parent, chart);
}

void timechart_finish(struct timechart *chart)
{
	states_finish(&chart->reader.states);
	end_tasks(chart);
	choose_tasks(chart);
	coarsen_lanes(chart);
}
