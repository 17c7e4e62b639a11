#include "analysis/sched/latency.h"

#include <stdlib.h>

enum latency_state { BLOCKED, READY, RUNS };

struct latency_task {
	uint64_t count, runtime_ns, delay_ns, max_ns, max_start, max_end;
	uint64_t out, ready;           /* with -C, which does not see all switches */
	uint8_t state;                 /* enum latency_state: the same */
	bool known;                    /* the same: `state` is valid */
	bool seen, asleep;             /* for the number of wake-ups as perf counts them */
};

int latency_key_of(const char *word, size_t len)
{
	static const char *const words[LATENCY_KEYS] = {
		[LATENCY_AVERAGE] = "avg", [LATENCY_MAXIMUM] = "max", [LATENCY_SWITCHES] = "switch", [LATENCY_RUNTIME] = "runtime",
		[LATENCY_PID] = "pid",
	};
	for (int key = 0; key < LATENCY_KEYS; key++)
		if (strlen(words[key]) == len && memcmp(words[key], word, len) == 0)
			return key;
	return -1;
}

static __attribute__((noinline)) struct latency_task *add_task(struct latency *latency, uint32_t index)
{
	while (latency->tasks.count <= index)
		(void)vec_add(&latency->tasks);
	return &latency->tasks.items[index];
}

static inline struct latency_task *task_at(struct latency *latency, uint32_t index)
{
	return __builtin_expect(index < latency->tasks.count, 1) ? &latency->tasks.items[index] : add_task(latency, index);
}

static void add_delay(struct latency_task *task, uint64_t ready, uint64_t in)
{
	uint64_t delay = in - ready;
	task->count++;
	task->delay_ns += delay;
	if (delay > task->max_ns) {
		task->max_ns = delay;
		task->max_start = ready;
		task->max_end = in;
	}
}

/* The delay of a task's first turn is unknown and counts as 0, as in perf; one without a wake-up is not known to be a delay. */
static void on_turn(void *context, uint32_t index, const struct turn *turn)
{
	struct latency *latency = context;
	if (latency->options.cpu != CPU_NONE || turn->wait_lost)
		return;
	if (turn->ready)
		add_delay(task_at(latency, index), turn->in < turn->ready ? turn->in : turn->ready, turn->in);
	else if (!turn->previous_out)
		add_delay(task_at(latency, index), turn->in, turn->in);
}

/* -C: what perf does for a recording of one CPU, where tasks come and go unseen. */
static struct latency_task *seen_task(struct latency *latency, uint32_t index, uint64_t time, enum latency_state state)
{
	struct latency_task *task = task_at(latency, index);
	if (!task->known) {
		task->known = true;
		task->state = (uint8_t)state;
		task->out = task->ready = time;
	}
	return task;
}

static void take_on_one_cpu(struct latency *latency, const struct sched_event *event)
{
	if (event->task == STATES_NO_TASK)
		return;
	if (event->kind == SCHED_SWITCH) {
		struct latency_task *task = seen_task(latency, event->task, event->time, READY);
		task->state = event->change.letter == 'R' ? READY : BLOCKED;
		task->out = task->ready = event->time;
		task = seen_task(latency, event->next, event->time, READY);
		if (task->state == READY && event->time >= task->ready)
			add_delay(task, task->ready, event->time);
		task->state = RUNS;
	} else if (event->kind == SCHED_MIGRATE) {
		struct latency_task *task = seen_task(latency, event->task, event->time, READY);
		task->out = task->ready = event->time;
		latency->wakes++;
	} else if (event->kind == SCHED_RUNTIME) {
		seen_task(latency, event->task, event->time, READY);
	} else if (event->kind != SCHED_IOWAIT) {
		struct latency_task *task = seen_task(latency, event->task, event->time, BLOCKED);
		latency->wakes++;
		latency->unordered += task->out > event->time;
		if (task->out > event->time)
			return;
		task->state = READY;
		task->ready = event->time;
	}
}

/* A task that came to a CPU without a wake-up sleeps on, for perf. */
static void count_wake(struct latency *latency, const struct sched_event *event)
{
	struct latency_task *task = task_at(latency, event->task);
	bool wake = event->kind == SCHED_WAKING || event->kind == SCHED_WAKEUP || event->kind == SCHED_WAKEUP_NEW;
	if (wake && (task->asleep || !task->seen))
		latency->wakes++;
	task->asleep = event->kind == SCHED_SWITCH ? event->change.letter != 'R' : task->asleep && !wake;
	task->seen = true;
	if (event->kind == SCHED_SWITCH)
		task_at(latency, event->next)->seen = true;
}

static void count_contradiction(struct latency *latency, const struct task_switch *change)
{
	while (latency->current.count <= (size_t)change->cpu)
		vec_push(&latency->current, UINT64_MAX);
	uint64_t *current = &latency->current.items[change->cpu];
	latency->contradictions += *current != UINT64_MAX && *current != (uint64_t)change->previous;
	*current = (uint64_t)change->next;
}

static void on_event(void *context, const struct sched_event *event)
{
	struct latency *latency = context;
	if (event->kind == SCHED_ELSE || event->kind >= SCHED_KINDS_OF_SAMPLES)
		return;
	if (event->kind == SCHED_WAKEUP && latency->reader.has_waking)
		return;
	if (event->kind == SCHED_SWITCH)
		count_contradiction(latency, &event->change);
	if (event->kind == SCHED_RUNTIME && event->task != STATES_NO_TASK)
		task_at(latency, event->task)->runtime_ns += event->amount;
	if (latency->options.cpu != CPU_NONE)
		take_on_one_cpu(latency, event);
	else if (event->task != STATES_NO_TASK && event->kind != SCHED_MIGRATE && event->kind != SCHED_IOWAIT)
		count_wake(latency, event);
}

void latency_init(struct latency *latency, const struct latency_options *options, bool live)
{
	*latency = (struct latency){ .options = *options };
	uint32_t kinds = ~(1u << SCHED_ELSE | 1u << SCHED_IOWAIT);
	if (options->cpu == CPU_NONE)
		kinds &= ~(1u << SCHED_MIGRATE);
	sched_reader_init(&latency->reader, &(struct sched_analysis){ .context = latency, .kinds = kinds, .event = on_event,
		.turn_begins = on_turn }, live);
}

void latency_fini(struct latency *latency)
{
	sched_reader_fini(&latency->reader);
	vec_fini(&latency->tasks);
	vec_fini(&latency->rows);
	vec_fini(&latency->current);
}

uint64_t latency_average_ns(const struct latency_row *row)
{
	return row->count ? row->delay_ns / row->count : 0;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static uint64_t key_value(const struct latency *latency, const struct latency_row *row, enum latency_key key)
{
	switch (key) {
	case LATENCY_AVERAGE: return latency_average_ns(row);
	case LATENCY_MAXIMUM: return row->max_ns;
	case LATENCY_SWITCHES: return row->count;
	case LATENCY_RUNTIME: return row->runtime_ns;
	default: return (uint64_t)latency->reader.states.tasks.items[row->task].tid;
	}
}

/* Rows that are equal by all keys: by name or, with by_task, by thread id, descending. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct latency *latency = context;
	const struct latency_row *l = a, *r = b;
	int order = 0;
	for (size_t i = 0; i < latency->options.key_count && !order; i++)
		order = compare(key_value(latency, r, latency->options.keys[i]), key_value(latency, l, latency->options.keys[i]));
	if (!order && !latency->options.by_task)
		order = strcmp(r->name, l->name);
	if (!order)
		order = compare(key_value(latency, r, LATENCY_PID), key_value(latency, l, LATENCY_PID));
	return order ? order : compare(l->task, r->task);
}

static int compare_names(const void *a, const void *b, void *context)
{
	const struct latency *latency = context;
	const struct latency_row *l = a, *r = b;
	int order = strcmp(l->name, r->name);
	return order ? order : compare(key_value(latency, r, LATENCY_PID), key_value(latency, l, LATENCY_PID));
}

static void merge_rows(struct latency *latency)
{
	size_t count = 0;
	struct latency_row *rows = latency->rows.items;
	if (latency->rows.count)
		qsort_r(rows, latency->rows.count, sizeof *rows, compare_names, latency);
	for (size_t i = 0; i < latency->rows.count; i++) {
		struct latency_row *row = count ? &rows[count - 1] : NULL;
		if (!row || strcmp(row->name, rows[i].name) != 0) {
			rows[count] = rows[i];
			rows[count++].merged = 1;
			continue;
		}
		row->merged++;
		row->count += rows[i].count;
		row->runtime_ns += rows[i].runtime_ns;
		row->delay_ns += rows[i].delay_ns;
		if (rows[i].max_ns > row->max_ns) {
			row->max_ns = rows[i].max_ns;
			row->max_start = rows[i].max_start;
			row->max_end = rows[i].max_end;
		}
	}
	latency->rows.count = count;
}

void latency_finish(struct latency *latency)
{
	vec_clear(&latency->rows);
	latency->runtime_ns = latency->count = 0;
	for (uint32_t i = 0; i < latency->tasks.count; i++) {
		const struct latency_task *task = &latency->tasks.items[i];
		if (task_is_idle(&latency->reader.states.tasks.items[i]))
			continue;
		vec_push(&latency->rows, ((struct latency_row){ .name = sched_task_comm(&latency->reader, i), .task = i, .count = task->count,
			.runtime_ns = task->runtime_ns, .delay_ns = task->delay_ns, .max_ns = task->max_ns, .max_start = task->max_start,
			.max_end = task->max_end }));
	}
	if (!latency->options.by_task)
		merge_rows(latency);
	size_t count = 0;
	for (size_t i = 0; i < latency->rows.count; i++) {
		const struct latency_row *row = &latency->rows.items[i];
		if (!row->count)
			continue;
		latency->count += row->count;
		latency->runtime_ns += row->runtime_ns;
		latency->rows.items[count++] = *row;
	}
	latency->rows.count = count;
	if (count)
		qsort_r(latency->rows.items, count, sizeof *latency->rows.items, compare_rows, latency);
}

enum { COLUMN_TASK, COLUMN_TID, COLUMN_TASKS, COLUMN_RUNTIME, COLUMN_COUNT, COLUMN_AVERAGE, COLUMN_MAXIMUM, COLUMN_START, COLUMN_END,
	COLUMNS };

static struct cell row_cell(void *context, uint64_t index, size_t column, struct str *scratch)
{
	const struct latency *latency = context;
	const struct latency_row *row = &latency->rows.items[index - 1];
	switch (column) {
	case COLUMN_TASK: return cell_text(row->name);
	case COLUMN_TID: return row->merged > 1 ? cell_absent() : cell_number(latency->reader.states.tasks.items[row->task].tid);
	case COLUMN_TASKS: return cell_count(row->merged ? row->merged : 1);
	case COLUMN_RUNTIME: return cell_time(row->runtime_ns);
	case COLUMN_COUNT: return cell_count(row->count);
	case COLUMN_AVERAGE: return cell_time(latency_average_ns(row));
	case COLUMN_MAXIMUM: return cell_time(row->max_ns);
	case COLUMN_START: return row->max_ns ? cell_time(row->max_start) : cell_absent();
	case COLUMN_END: return row->max_ns ? cell_time(row->max_end) : cell_absent();
	default: return cell_absent();
	}
}

static size_t row_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ((struct latency *)context)->rows.count : 0;
}

struct table latency_table(struct latency *latency)
{
	static const struct table_column columns[COLUMNS] = {
		[COLUMN_TASK] = { "task", "Task", NULL, CELL_TEXT }, [COLUMN_TID] = { "tid", "Tid", NULL, CELL_NUMBER },
		[COLUMN_TASKS] = { "tasks", "Tasks", NULL, CELL_COUNT }, [COLUMN_RUNTIME] = { "runtime", "Runtime", "ns", CELL_TIME },
		[COLUMN_COUNT] = { "count", "Count", NULL, CELL_COUNT }, [COLUMN_AVERAGE] = { "avg_delay", "Avg delay", "ns", CELL_TIME },
		[COLUMN_MAXIMUM] = { "max_delay", "Max delay", "ns", CELL_TIME },
		[COLUMN_START] = { "max_delay_start", "Max delay start", "ns", CELL_TIME },
		[COLUMN_END] = { "max_delay_end", "Max delay end", "ns", CELL_TIME },
	};
	return (struct table){ .name = "latency", .columns = columns, .column_count = COLUMNS, .context = latency, .row_count = row_count,
		.row = table_row_in_order, .cell = row_cell };
}
