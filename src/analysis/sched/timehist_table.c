/* The sums and rows of timehist as cells. */
#include <stdlib.h>

#include "analysis/sched/timehist.h"

enum { TASKS, CPUS, TABLES };

enum { TASK_NAME, TASK_TID, TASK_PID, TASK_PARENT, TASK_TURNS, TASK_RUN, TASK_MIN, TASK_AVERAGE, TASK_MAX, TASK_DEVIATION, TASK_SLEEP,
	TASK_DISK, TASK_PREEMPTED, TASK_DELAY, TASK_MIGRATIONS, TASK_COLUMNS };

static const struct table_column task_columns[TASK_COLUMNS] = {
	[TASK_NAME] = { "task", "Task", NULL, CELL_TEXT }, [TASK_TID] = { "tid", "Tid", NULL, CELL_NUMBER },
	[TASK_PID] = { "pid", "Pid", NULL, CELL_NUMBER }, [TASK_PARENT] = { "parent", "Parent", NULL, CELL_NUMBER },
	[TASK_TURNS] = { "turns", "Turns", NULL, CELL_COUNT }, [TASK_RUN] = { "run", "Run time", "ns", CELL_TIME },
	[TASK_MIN] = { "min_run", "Min run", "ns", CELL_TIME }, [TASK_AVERAGE] = { "avg_run", "Avg run", "ns", CELL_TIME },
	[TASK_MAX] = { "max_run", "Max run", "ns", CELL_TIME }, [TASK_DEVIATION] = { "stddev_percent", "Stddev %", NULL, CELL_REAL },
	[TASK_SLEEP] = { "sleep", "Sleep", "ns", CELL_TIME }, [TASK_DISK] = { "uninterruptible", "Uninterruptible", "ns", CELL_TIME },
	[TASK_PREEMPTED] = { "preempted", "Preempted", "ns", CELL_TIME }, [TASK_DELAY] = { "delay", "Delay", "ns", CELL_TIME },
	[TASK_MIGRATIONS] = { "migrations", "Migrations", NULL, CELL_COUNT },
};

static struct cell task_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	struct timehist_tables *tables = context;
	uint32_t index = tables->tasks[row - 1];
	struct sched_reader *reader = &tables->timehist->reader;
	const struct timehist_task *task = timehist_task(tables->timehist, index);
	int32_t pid = sched_task_pid(reader, index), parent = sched_task_parent(reader, index);
	switch (column) {
	case TASK_NAME: return cell_text(sched_task_name(reader, index));
	case TASK_TID: return cell_number(reader->states.tasks.items[index].tid);
	case TASK_PID: return pid < 0 ? cell_absent() : cell_number(pid);
	case TASK_PARENT: return parent < 0 ? cell_absent() : cell_number(parent);
	case TASK_TURNS: return cell_count(task->turns);
	case TASK_RUN: return cell_time(task->run_ns);
	case TASK_MIN: return cell_time(task->min_ns);
	case TASK_AVERAGE: return cell_time((uint64_t)task->mean);
	case TASK_MAX: return cell_time(task->max_ns);
	case TASK_DEVIATION: return (struct cell){ .kind = CELL_REAL, .real = timehist_deviation(task) };
	case TASK_SLEEP: return cell_time(task->sleep_ns);
	case TASK_DISK: return cell_time(task->disk_ns);
	case TASK_PREEMPTED: return cell_time(task->preempted_ns);
	case TASK_DELAY: return cell_time(task->delay_ns);
	case TASK_MIGRATIONS: return cell_count(task->migrations);
	default: return cell_absent();
	}
}

enum { CPU_NUMBER, CPU_RUN, CPU_IDLE, CPU_UNKNOWN, CPU_COLUMNS };

static const struct table_column cpu_columns[CPU_COLUMNS] = {
	[CPU_NUMBER] = { "cpu", "CPU", NULL, CELL_NUMBER }, [CPU_RUN] = { "run", "Run time", "ns", CELL_TIME },
	[CPU_IDLE] = { "idle", "Idle time", "ns", CELL_TIME }, [CPU_UNKNOWN] = { "unknown", "Unknown", "ns", CELL_TIME },
};

static struct cell cpu_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	struct timehist *timehist = ((struct timehist_tables *)context)->timehist;
	const struct timehist_cpu *cpu = &timehist->cpus.items[row - 1];
	uint64_t span = timehist->end - timehist->start, known = cpu->run_ns + cpu->idle_ns;
	switch (column) {
	case CPU_NUMBER: return cell_number((int64_t)row - 1);
	case CPU_RUN: return cell_time(cpu->run_ns);
	case CPU_IDLE: return cell_time(cpu->idle_ns);
	default: return cell_time(span > known ? span - known : 0);
	}
}

static size_t task_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ((struct timehist_tables *)context)->task_count : 0;
}

static size_t cpu_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ((struct timehist_tables *)context)->timehist->cpus.count : 0;
}

void timehist_tables_init(struct timehist_tables *tables, struct timehist *timehist)
{
	*tables = (struct timehist_tables){ .timehist = timehist };
	tables->task_count = timehist_shown(timehist, &tables->tasks);
	tables->tables[TASKS] = (struct table){ .name = "tasks", .columns = task_columns, .column_count = TASK_COLUMNS, .context = tables,
		.row_count = task_count, .row = table_row_in_order, .cell = task_cell };
	tables->tables[CPUS] = (struct table){ .name = "cpus", .columns = cpu_columns, .column_count = CPU_COLUMNS, .context = tables,
		.row_count = cpu_count, .row = table_row_in_order, .cell = cpu_cell };
	struct timehist_totals totals = timehist_totals(timehist);
	tables->facts[0] = (struct table_fact){ "span", cell_time(totals.span_ns) };
	tables->facts[1] = (struct table_fact){ "run", cell_time(totals.run_ns) };
	tables->facts[2] = (struct table_fact){ "idle", cell_time(totals.idle_ns) };
	tables->facts[3] = (struct table_fact){ "unknown", cell_time(totals.unknown_ns) };
	tables->facts[4] = (struct table_fact){ "lost_events", cell_count(timehist->reader.lost) };
}

void timehist_tables_fini(struct timehist_tables *tables)
{
	free(tables->tasks);
	tables->tasks = NULL;
}

enum { ROW_KIND, ROW_TIME, ROW_CPU, ROW_TASK, ROW_TID, ROW_PID, ROW_WAIT, ROW_DELAY, ROW_RUN, ROW_STATE, ROW_REASON, ROW_WAKER,
	ROW_PRIORITY, ROW_OTHER, ROW_OTHER_TID, ROW_TO_CPU, ROW_CHAIN };

const struct table_column timehist_columns[TIMEHIST_COLUMNS] = {
	[ROW_KIND] = { "kind", "Kind", NULL, CELL_TEXT }, [ROW_TIME] = { "time", "Time", "ns", CELL_TIME },
	[ROW_CPU] = { "cpu", "CPU", NULL, CELL_NUMBER }, [ROW_TASK] = { "task", "Task", NULL, CELL_TEXT },
	[ROW_TID] = { "tid", "Tid", NULL, CELL_NUMBER }, [ROW_PID] = { "pid", "Pid", NULL, CELL_NUMBER },
	[ROW_WAIT] = { "wait", "Wait time", "ns", CELL_TIME }, [ROW_DELAY] = { "delay", "Sched delay", "ns", CELL_TIME },
	[ROW_RUN] = { "run", "Run time", "ns", CELL_TIME }, [ROW_STATE] = { "state", "State", NULL, CELL_TEXT },
	[ROW_REASON] = { "wait_reason", "Reason of the wait", NULL, CELL_TEXT }, [ROW_WAKER] = { "waker", "Waker", NULL, CELL_NUMBER },
	[ROW_PRIORITY] = { "prio", "Priority", NULL, CELL_NUMBER }, [ROW_OTHER] = { "other", "Other task", NULL, CELL_TEXT },
	[ROW_OTHER_TID] = { "other_tid", "Its tid", NULL, CELL_NUMBER }, [ROW_TO_CPU] = { "to_cpu", "To CPU", NULL, CELL_NUMBER },
	[ROW_CHAIN] = { "chain", "Call chain", NULL, CELL_TEXT },
};

static const char *letter_text(char letter)
{
	static const char letters[] = "R\0S\0D\0T\0t\0X\0Z\0P\0I\0x\0K\0W\0";
	for (size_t i = 0; letters[i]; i += 2)
		if (letters[i] == letter)
			return letters + i;
	return NULL;
}

static void turn_cells(struct timehist *timehist, const struct timehist_row *row, struct cell cells[])
{
	const struct turn *turn = row->turn;
	cells[ROW_WAIT] = row->wait_lost || !turn->previous_out || !turn->in ? cell_absent() : cell_time(row->wait_ns);
	cells[ROW_DELAY] = row->wait_lost || !turn->ready || !turn->in ? cell_absent() : cell_time(row->delay_ns);
	cells[ROW_RUN] = row->run_lost || !turn->in ? cell_absent() : cell_time(row->run_ns);
	const char *reason = wait_reason_name(turn->reason);
	cells[ROW_REASON] = cell_text(*reason && !row->wait_lost ? reason : NULL);
	cells[ROW_WAKER] = turn->waker == TASK_NONE ? cell_absent() : cell_number(turn->waker);
	cells[ROW_PRIORITY] = row->priority < 0 ? cell_absent() : cell_number(row->priority);
	cells[ROW_OTHER] = cell_text(sched_event_comm(&timehist->reader, row->event, SCHED_NEXT_COMM));
	cells[ROW_OTHER_TID] = cell_number(row->event->change.next);
}

void timehist_cells(struct timehist *timehist, const struct timehist_row *row, const char *chain, struct cell cells[TIMEHIST_COLUMNS])
{
	static const char *const kinds[] = { "turn", "wakeup", "migration", "lost" };
	struct sched_reader *reader = &timehist->reader;
	for (int i = 0; i < TIMEHIST_COLUMNS; i++)
		cells[i] = cell_absent();
	cells[ROW_KIND] = cell_text(kinds[row->kind]);
	cells[ROW_TIME] = cell_time(row->time);
	cells[ROW_CPU] = cell_number(row->kind == TIMEHIST_MIGRATION ? row->from_cpu : row->cpu);
	if (row->task != STATES_NO_TASK) {
		int32_t pid = sched_task_pid(reader, row->task);
		cells[ROW_TASK] = cell_text(sched_task_name(reader, row->task));
		cells[ROW_TID] = cell_number(reader->states.tasks.items[row->task].tid);
		cells[ROW_PID] = pid < 0 ? cell_absent() : cell_number(pid);
	}
	if (row->other != STATES_NO_TASK) {
		cells[ROW_OTHER] = cell_text(sched_task_name(reader, row->other));
		cells[ROW_OTHER_TID] = cell_number(reader->states.tasks.items[row->other].tid);
	}
	if (row->kind == TIMEHIST_TURN) {
		turn_cells(timehist, row, cells);
		cells[ROW_STATE] = cell_text(letter_text(row->letter));
	}
	if (row->kind == TIMEHIST_MIGRATION)
		cells[ROW_TO_CPU] = cell_number(row->to_cpu);
	cells[ROW_CHAIN] = cell_text(chain && *chain ? chain : NULL);
}
