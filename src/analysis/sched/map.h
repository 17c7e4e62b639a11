/* `sched map`: which task runs on each CPU after each switch, with a short name for each task. Rows are passed on as they are made. */
#pragma once
#include "analysis/filter/sample_filter.h"
#include "analysis/sched/events.h"
#include "analysis/table/table.h"

struct map_options {
	bool compact;                   /* only CPUs that had a switch, in the order of their first one */
	struct name_list *coloured;     /* thread ids; borrowed, as the others; NULL: none */
	struct cpu_filter coloured_cpus; /* words NULL: none */
	struct cpu_filter cpus;         /* whose switches are shown */
	const char *const *names;       /* of the tasks that get short names, and whose switches are shown; NULL: all */
	size_t name_count;
	bool fuzzy;                     /* a task counts whose name contains one of these */
	int32_t cpu_count;              /* columns from the start */
};

struct map_task {
	char name[3];                   /* "A0"; empty: not yet seen */
	bool renamed;                   /* a COMM record has named it since it was last shown with its name */
	bool coloured;
};

struct map_cpu {
	uint32_t in, out;               /* the task that runs there, and the one before it; STATES_NO_TASK: unknown */
};

struct map_row {
	uint64_t time;
	int32_t cpu;
	uint32_t task;                  /* that runs now */
	bool leaves;                    /* the row shows that a task has left the CPU; with names only */
	bool introduced;                /* the task's name is shown beside its short name */
	bool new_cpu;                   /* compact: the first switch of this CPU */
};

struct sched_map {
	struct map_options options;
	struct sched_reader reader;
	void *context;
	void (*row)(void *context, const struct map_row *row);
	VEC(struct map_task) tasks;     /* by index in the states */
	struct map_task idle;           /* of all CPUs */
	VEC(struct map_cpu) cpus;
	VEC(int32_t) order;             /* compact: the CPUs of the columns */
	int32_t columns;                /* otherwise: their number */
	char next_name[2];
	bool verbose;                   /* introduce tasks in every row */
};

void sched_map_init(struct sched_map *map, const struct map_options *options, bool live);
void sched_map_fini(struct sched_map *map);
/* The CPUs of the columns as of the current row. */
size_t sched_map_columns(const struct sched_map *map);
int32_t sched_map_column_cpu(const struct sched_map *map, size_t column);
const struct map_cpu *sched_map_cpu(struct sched_map *map, int32_t cpu);
struct map_task *sched_map_task(struct sched_map *map, uint32_t task);

enum { MAP_COLUMNS = 5 };
extern const struct table_column map_columns[MAP_COLUMNS];
void map_cells(struct sched_map *map, const struct map_row *row, struct cell cells[MAP_COLUMNS]);
