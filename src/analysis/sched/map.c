#include "analysis/sched/map.h"

#include <stdlib.h>

void sched_map_fini(struct sched_map *map)
{
	sched_reader_fini(&map->reader);
	vec_fini(&map->tasks);
	vec_fini(&map->cpus);
	vec_fini(&map->order);
}

struct map_task *sched_map_task(struct sched_map *map, uint32_t index)
{
	if (task_is_idle(&map->reader.states.tasks.items[index]))
		return &map->idle;
	while (__builtin_expect(map->tasks.count <= index, 0))
		(void)vec_add(&map->tasks);
	return &map->tasks.items[index];
}

static struct map_cpu *cpu_at(struct sched_map *map, int32_t cpu)
{
	while (__builtin_expect(map->cpus.count <= (size_t)cpu, 0))
		vec_push(&map->cpus, ((struct map_cpu){ STATES_NO_TASK, STATES_NO_TASK }));
	return &map->cpus.items[cpu];
}

const struct map_cpu *sched_map_cpu(struct sched_map *map, int32_t cpu)
{
	return cpu_at(map, cpu);
}

size_t sched_map_columns(const struct sched_map *map)
{
	return map->options.compact ? map->order.count : (size_t)map->columns;
}

int32_t sched_map_column_cpu(const struct sched_map *map, size_t column)
{
	return map->options.compact ? map->order.items[column] : (int32_t)column;
}

/* perf counts columns up to the CPU with the highest number that had a switch, without that one, or this machine's CPUs. */
static bool add_cpu(struct sched_map *map, int32_t cpu)
{
	if (!map->options.compact) {
		map->columns = cpu > map->columns ? cpu : map->columns;
		return false;
	}
	for (size_t i = 0; i < map->order.count; i++)
		if (map->order.items[i] == cpu)
			return false;
	vec_push(&map->order, cpu);
	return true;
}

static bool is_named(const struct sched_map *map, const char *name)
{
	const struct map_options *o = &map->options;
	for (size_t i = 0; i < o->name_count; i++)
		if (o->fuzzy ? strstr(name, o->names[i]) != NULL : strcmp(name, o->names[i]) == 0)
			return true;
	return !o->names;
}

static void give_name(struct sched_map *map, struct map_task *task, uint32_t index)
{
	const struct task *state = &map->reader.states.tasks.items[index];
	const char *comm = sched_task_comm(&map->reader, index);
	task->coloured = map->options.coloured && number_list_has(map->options.coloured, state->tid);
	if (task_is_idle(state) || strcmp(comm, "swapper") == 0) {
		memcpy(task->name, ". ", 3);
	} else if (!is_named(map, comm)) {
		memcpy(task->name, "- ", 3);
	} else {
		memcpy(task->name, map->next_name, 2);
		map->next_name[0]++;
		if (map->next_name[0] > 'Z') {
			map->next_name[0] = 'A';
			map->next_name[1] = map->next_name[1] < '9' ? map->next_name[1] + 1 : '0';
		}
	}
}

static void take_switch(struct sched_map *map, const struct sched_event *event)
{
	bool new_cpu = add_cpu(map, event->cpu);
	struct map_cpu *cpu = cpu_at(map, event->cpu);
	struct map_task *task = sched_map_task(map, event->next);
	bool new_name = !task->name[0];
	cpu->in = event->next;
	cpu->out = event->task;
	if (new_name)
		give_name(map, task, event->next);
	if (!cpu_filter_has(&map->options.cpus, (uint32_t)event->cpu))
		return;
	struct map_row row = { .time = event->time, .cpu = event->cpu, .task = event->next, .new_cpu = new_cpu };
	bool arrives = !map->options.names || is_named(map, sched_task_comm(&map->reader, event->next));
	bool leaves = map->options.names && is_named(map, sched_task_comm(&map->reader, event->task));
	if (arrives) {
		row.introduced = new_name || task->renamed || (map->verbose && event->change.next);
		if (row.introduced)
			task->renamed = false;
		map->row(map->context, &row);
	}
	/* a task that was not seen to arrive has no short name */
	if (leaves && sched_map_task(map, event->task)->name[0]) {
		row.leaves = true;
		row.introduced = row.new_cpu = false;
		map->row(map->context, &row);
	}
}

/* perf counts a synthesized record, which has no thread id of its own, as a name of the idle task. */
static void take_comm(struct sched_map *map, const struct sched_event *event)
{
	if (event->tid == 0)
		map->idle.renamed = true;
	else if (event->subject > 0 && event->tid == event->subject)
		sched_map_task(map, states_task(&map->reader.states, event->subject, CPU_NONE))->renamed = true;
}

static void on_event(void *context, const struct sched_event *event)
{
	struct sched_map *map = context;
	if (event->kind == SCHED_SWITCH)
		take_switch(map, event);
	else if (event->kind == SCHED_COMM)
		take_comm(map, event);
}

void sched_map_init(struct sched_map *map, const struct map_options *options, bool live)
{
	*map = (struct sched_map){ .options = *options, .next_name = { 'A', '0' }, .columns = options->cpu_count };
	sched_reader_init(&map->reader, &(struct sched_analysis){ .context = map, .kinds = 1u << SCHED_SWITCH,
		.event = on_event }, live);
}

enum { COLUMN_TIME, COLUMN_CPU, COLUMN_NAME, COLUMN_TASK, COLUMN_TID };

const struct table_column map_columns[MAP_COLUMNS] = {
	[COLUMN_TIME] = { "time", "Time", "ns", CELL_TIME }, [COLUMN_CPU] = { "cpu", "CPU", NULL, CELL_NUMBER },
	[COLUMN_NAME] = { "short_name", "Short name", NULL, CELL_TEXT }, [COLUMN_TASK] = { "task", "Task", NULL, CELL_TEXT },
	[COLUMN_TID] = { "tid", "Tid", NULL, CELL_NUMBER },
};

void map_cells(struct sched_map *map, const struct map_row *row, struct cell cells[MAP_COLUMNS])
{
	cells[COLUMN_TIME] = cell_time(row->time);
	cells[COLUMN_CPU] = cell_number(row->cpu);
	cells[COLUMN_NAME] = cell_text(sched_map_task(map, row->task)->name);
	cells[COLUMN_TASK] = cell_text(sched_task_name(&map->reader, row->task));
	cells[COLUMN_TID] = cell_number(map->reader.states.tasks.items[row->task].tid);
}
