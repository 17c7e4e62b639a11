#include "analysis/sched/timehist.h"

#include <math.h>
#include <stdlib.h>

struct timehist_task *timehist_task(struct timehist *timehist, uint32_t index)
{
	while (__builtin_expect(timehist->tasks.count <= index, 0))
		vec_push(&timehist->tasks, ((struct timehist_task){ .start_priority = -1 }));
	return &timehist->tasks.items[index];
}

static struct timehist_cpu *cpu_at(struct timehist *timehist, int32_t cpu)
{
	while (__builtin_expect(timehist->cpus.count <= (size_t)cpu, 0))
		vec_push(&timehist->cpus, ((struct timehist_cpu){ .before_idle = STATES_NO_TASK }));
	return &timehist->cpus.items[cpu];
}

static const struct task *task_of(const struct timehist *timehist, uint32_t index)
{
	return &timehist->reader.states.tasks.items[index];
}

bool timehist_drops(struct timehist *timehist, uint32_t index)
{
	const struct timehist_options *o = &timehist->options;
	const struct task *task = task_of(timehist, index);
	if (!o->pids && !o->tids)
		return false;
	if (o->pids && !number_list_has(o->pids, task_is_idle(task) ? 0 : sched_task_pid(&timehist->reader, index)))
		return true;
	return o->tids && !number_list_has(o->tids, task->tid);
}

/* priority: if the one of the task's last switch is unknown; -1: unknown, too. */
static bool skips(struct timehist *timehist, uint32_t index, int32_t priority)
{
	const struct timehist_options *o = &timehist->options;
	bool dropped = timehist_drops(timehist, index);
	timehist->skipped += dropped;
	if (!o->priorities)
		return dropped;
	int32_t at_start = timehist_task(timehist, index)->start_priority;
	priority = at_start != -1 ? at_start : priority;
	if (priority >= 0 && (priority >= PRIORITIES || !o->priorities[priority])) {
		timehist->skipped++;
		return true;
	}
	return dropped;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t distance(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* The part of [from, to) that is in the range of time. */
static uint64_t part_in_range(const struct timehist *timehist, uint64_t from, uint64_t to)
{
	const struct timehist_options *o = &timehist->options;
	return distance(later(from, o->start), o->stop ? earlier(to, o->stop) : to);
}

static void add_run(struct timehist *timehist, uint32_t index, int32_t cpu, uint64_t ns)
{
	timehist_task(timehist, index)->run_ns += ns;
	uint64_t *sum = task_is_idle(task_of(timehist, index)) ? &cpu_at(timehist, cpu)->idle_ns : &cpu_at(timehist, cpu)->run_ns;
	*sum += ns;
}

/* Run time outside of complete turns. */
static void add_part(struct timehist *timehist, uint32_t index, int32_t cpu, uint64_t from, uint64_t to)
{
	uint64_t ns = part_in_range(timehist, from, to);
	if (!ns || timehist->options.idle || !cpu_filter_has(&timehist->options.cpus, (uint32_t)cpu))
		return;
	add_run(timehist, index, cpu, ns);
	timehist_task(timehist, index)->part_ns += ns;
}

static void add_turn(struct timehist_task *task, uint64_t ns)
{
	double delta = (double)ns - task->mean;
	task->turns++;
	task->mean += delta / (double)task->turns;
	task->squares += delta * ((double)ns - task->mean);
	task->min_ns = task->turns == 1 || ns < task->min_ns ? ns : task->min_ns;
	task->max_ns = later(task->max_ns, ns);
}

static void add_row(struct timehist *timehist, const struct timehist_row *row)
{
	struct timehist_task *task = timehist_task(timehist, row->task);
	add_turn(task, row->run_ns);
	task->delay_ns += row->delay_ns;
	if (row->turn->letter == 'R')
		task->preempted_ns += row->wait_ns;
	else if (row->turn->letter == 'D')
		task->disk_ns += row->wait_ns;
	else
		task->sleep_ns += row->wait_ns;
	add_run(timehist, row->task, row->cpu, row->run_ns);
}

/* Gives the idle time to the task before it. Returns false if that is unknown. */
static bool take_idle(struct timehist *timehist, const struct timehist_row *row)
{
	struct timehist_cpu *cpu = cpu_at(timehist, row->cpu);
	if (cpu->before_idle == STATES_NO_TASK)
		return false;
	struct timehist_task *task = timehist_task(timehist, cpu->before_idle);
	add_turn(task, row->run_ns);
	task->run_ns += row->run_ns;
	cpu->before_idle = STATES_NO_TASK;
	if (!cpu->chain)
		return true;
	size_t i = 0;
	while (i < cpu->chains.count && strcmp(cpu->chains.items[i].text, cpu->chain) != 0)
		i++;
	if (i == cpu->chains.count)
		vec_push(&cpu->chains, ((struct idle_chain){ .text = cpu->chain }));
	cpu->chains.items[i].ns += row->run_ns;
	cpu->chains.items[i].count++;
	return true;
}

/* Fills the parts of a turn as far as they are in the range of time; false: it is outside. perf measures the wait up to the start of the
 * range where the turn began before it. */
static bool measure(const struct timehist *timehist, const struct turn *turn, struct timehist_row *row)
{
	const struct timehist_options *o = &timehist->options;
	uint64_t in = turn->in ? later(turn->in, o->start) : 0;
	if ((o->start && o->start > turn->out) || (o->stop && (!in || in > o->stop)))
		return false;
	row->time = o->stop ? earlier(turn->out, o->stop) : turn->out;
	if (!in)
		return true;
	row->run_ns = distance(in, row->time);
	row->delay_ns = turn->ready && !turn->wait_lost ? distance(turn->ready, in) : 0;
	row->wait_ns = turn->previous_out && !turn->wait_lost ? distance(turn->previous_out, in) : 0;
	return true;
}

static void extend_span(struct timehist *timehist, uint64_t time)
{
	const struct timehist_options *o = &timehist->options;
	uint64_t cut = o->stop ? earlier(time, o->stop) : time;
	uint64_t first = timehist->reader.states.first ? timehist->reader.states.first : time;
	if (!timehist->start && time >= o->start)
		timehist->start = first < o->start ? o->start : cut;
	if (!o->stop || cut <= o->stop)
		timehist->end = cut;
}

/* A turn that no complete row shows: its known part counts. */
static void take_part(struct timehist *timehist, uint32_t index, const struct turn *turn)
{
	if (turn->in)
		add_part(timehist, index, turn->cpu, turn->in, turn->out);
	else if (!turn->run_lost && timehist->start)
		add_part(timehist, index, turn->cpu, timehist->start, turn->out);
}

static bool is_shown(struct timehist *timehist, const struct sched_event *event, uint32_t index)
{
	if (skips(timehist, index, event->change.previous_priority))
		return false;
	return !timehist->options.idle || !event->change.previous || !event->change.next;
}

static void note_idle_begins(struct timehist *timehist, uint32_t index, const struct sched_event *event)
{
	struct timehist_cpu *cpu = cpu_at(timehist, event->cpu);
	cpu->before_idle = index;
	if (!event->change.next && timehist->options.chains)
		cpu->chain = timehist->chain(timehist->context, event);
}

static void on_turn(void *context, uint32_t index, const struct turn *turn)
{
	struct timehist *timehist = context;
	const struct sched_event *event = timehist->reader.event;
	if (turn->inferred) {
		take_part(timehist, index, turn);
		return;
	}
	if (event && !timehist->start)
		extend_span(timehist, event->time);
	bool idle = task_is_idle(task_of(timehist, index));
	if (timehist->options.idle && !idle)
		note_idle_begins(timehist, index, event);
	struct timehist_row row = { .kind = TIMEHIST_TURN, .time = turn->out, .cpu = event->cpu, .task = index, .other = STATES_NO_TASK,
		.turn = turn, .letter = event->change.letter, .wait_lost = turn->wait_lost, .run_lost = turn->run_lost,
		.priority = event->change.previous_priority, .priority_before = timehist_task(timehist, index)->start_priority,
		.event = event };
	bool counted = cpu_filter_has(&timehist->options.cpus, (uint32_t)row.cpu), shown = is_shown(timehist, event, index);
	if (shown && counted && !turn->in)
		take_part(timehist, index, turn);
	if (shown && measure(timehist, turn, &row) && (idle || !timehist->options.idle)) {
		if (counted)
			add_row(timehist, &row);
		if ((!timehist->options.idle || take_idle(timehist, &row)) && counted && timehist->row)
			timehist->row(timehist->context, &row);
	}
	extend_span(timehist, event->time);
}

static void on_next(void *context, uint32_t index, const struct turn *turn)
{
	struct timehist *timehist = context;
	timehist_task(timehist, index)->start_priority = timehist->reader.event->change.next_priority;
}

static void pass_pair(struct timehist *timehist, const struct sched_event *event, enum timehist_kind kind)
{
	struct states *states = &timehist->reader.states;
	if (event->task == STATES_NO_TASK || event->cpu < 0)
		return;
	uint32_t task = event->tid >= 0 ? states_task(states, event->tid, event->cpu) : STATES_NO_TASK;
	if (timehist->options.idle)
		return;
	if ((task == STATES_NO_TASK || skips(timehist, task, -1)) && skips(timehist, event->task, -1))
		return;
	timehist->row(timehist->context, &(struct timehist_row){ .kind = kind, .time = event->time, .cpu = event->cpu, .task = task,
		.other = event->task, .from_cpu = event->from_cpu, .to_cpu = event->to_cpu, .priority = -1, .priority_before = -1,
		.event = event });
}

static void refine_wait(struct timehist *timehist, const struct sched_event *event)
{
	enum wait_reason reason = timehist->reason(timehist->context, event);
	if (reason)
		states_hint_once(&timehist->reader.states, event->change.previous, reason);
}

static void on_event(void *context, const struct sched_event *event)
{
	struct timehist *timehist = context;
	const struct timehist_options *o = &timehist->options;
	switch (event->kind) {
	case SCHED_SWITCH:
		if (timehist->reason && event->change.previous)
			refine_wait(timehist, event);
		return;
	case SCHED_WAKEUP:
		if (timehist->reader.has_waking)
			return;
		/* fall through */
	case SCHED_WAKING:
	case SCHED_WAKEUP_NEW:
		if (o->wakeups && timehist->row && event->time >= o->start && (!o->stop || event->time <= o->stop))
			pass_pair(timehist, event, TIMEHIST_WAKEUP);
		return;
	case SCHED_MIGRATE:
		if (o->migrations && event->task != STATES_NO_TASK)
			timehist_task(timehist, event->task)->migrations++;
		if (o->migrations && timehist->row)
			pass_pair(timehist, event, TIMEHIST_MIGRATION);
		return;
	case SCHED_LOST:
		if (event->r->record->type == RECORD_LOST && timehist->row)
			timehist->row(timehist->context, &(struct timehist_row){ .kind = TIMEHIST_LOST, .time = event->time, .cpu = event->cpu,
				.task = STATES_NO_TASK, .other = STATES_NO_TASK, .lost = event->amount, .event = event });
		return;
	default:
		return;
	}
}

void timehist_init(struct timehist *timehist, const struct timehist_options *options, bool live)
{
	*timehist = (struct timehist){ .options = *options };
	sched_reader_init(&timehist->reader, &(struct sched_analysis){ .context = timehist, .event = on_event, .turn_begins = on_next,
		.turn_ends = on_turn }, live);
}

void timehist_fini(struct timehist *timehist)
{
	sched_reader_fini(&timehist->reader);
	vec_fini(&timehist->tasks);
	for (size_t i = 0; i < timehist->cpus.count; i++)
		vec_fini(&timehist->cpus.items[i].chains);
	vec_fini(&timehist->cpus);
}

void timehist_finish(struct timehist *timehist)
{
	struct states *states = &timehist->reader.states;
	states_finish(states);
	for (size_t i = 0; i < states->cpus.count; i++) {
		const struct cpu_state *cpu = &states->cpus.items[i];
		if (cpu->task != STATES_NO_TASK)
			add_part(timehist, cpu->task, (int32_t)i, states->tasks.items[cpu->task].turn.in, timehist->end);
	}
}

double timehist_deviation(const struct timehist_task *task)
{
	double n = (double)task->turns;
	return task->turns < 2 || task->mean <= 0 ? 0 : 100.0 * sqrt(task->squares / (n - 1) / n) / task->mean;
}

struct timehist_totals timehist_totals(struct timehist *timehist)
{
	const struct states *states = &timehist->reader.states;
	struct timehist_totals totals = { .span_ns = distance(timehist->start, timehist->end) };
	for (uint32_t i = 0; i < timehist->tasks.count; i++) {
		const struct timehist_task *task = &timehist->tasks.items[i];
		bool idle = task_is_idle(task_of(timehist, i));
		if (idle || timehist_drops(timehist, i))
			continue;
		totals.tasks += task->turns || task->run_ns;
		totals.turns += task->turns;
		totals.run_ns += task->run_ns;
	}
	for (uint32_t i = 0; i < timehist->tasks.count; i++)
		if (task_is_idle(task_of(timehist, i)))
			totals.turns += timehist->tasks.items[i].turns;
	for (size_t i = 0; i < states->cpus.count; i++) {
		if (!states->cpus.items[i].first || !cpu_filter_has(&timehist->options.cpus, (uint32_t)i))
			continue;
		const struct timehist_cpu *cpu = cpu_at(timehist, (int32_t)i);
		totals.cpus++;
		totals.idle_ns += cpu->idle_ns;
		totals.unknown_ns += distance(cpu->run_ns + cpu->idle_ns, totals.span_ns);
	}
	return totals;
}

struct shown {
	uint32_t index;
	uint32_t tid;
};

/* As perf walks its threads: by the table that the thread id selects. */
static int compare_shown(const void *a, const void *b)
{
	enum { TABLES = 256 };
	const struct shown *l = a, *r = b;
	int order = (int)(l->tid % TABLES) - (int)(r->tid % TABLES);
	if (!order)
		order = l->tid < r->tid ? -1 : l->tid > r->tid;
	return order ? order : l->index < r->index ? -1 : 1;
}

size_t timehist_shown(struct timehist *timehist, uint32_t **indexes)
{
	VEC(struct shown) list = { 0 };
	for (uint32_t i = 0; i < timehist->tasks.count; i++) {
		const struct timehist_task *task = &timehist->tasks.items[i];
		if (!task_is_idle(task_of(timehist, i)) && (task->turns || task->run_ns) && !timehist_drops(timehist, i))
			vec_push(&list, ((struct shown){ i, (uint32_t)task_of(timehist, i)->tid }));
	}
	if (list.count)
		qsort(list.items, list.count, sizeof *list.items, compare_shown);
	size_t count = list.count;
	*indexes = memory_zero(count + 1, sizeof **indexes);
	for (size_t i = 0; i < count; i++)
		(*indexes)[i] = list.items[i].index;
	vec_fini(&list);
	return count;
}
