/* `sched timehist`: a row for each turn of a task, wake-up and migration, and sums for each task and CPU. Rows are passed on as they are
 * made; sums close: the run times of tasks and idle tasks and the unknown time of a CPU are the time from the first to the last switch.
 *
 * A turn counts from the switch to the switch. Sums contain besides the run before the first and after the last switch of a CPU. */
#pragma once
#include "analysis/filter/sample_filter.h"
#include "analysis/sched/events.h"
#include "analysis/table/table.h"

enum { PRIORITIES = 140 };

struct timehist_options {
	uint64_t start, stop;          /* --time, ns; 0: open */
	struct cpu_filter cpus;        /* borrowed, as are the lists */
	struct name_list *pids, *tids; /* NULL: all */
	const bool *priorities;        /* [PRIORITIES], of tasks that are shown; NULL: all */
	bool wakeups, migrations;
	bool idle;                     /* -I: idle turns alone; run times of tasks are the idle times that follow them */
	bool chains;                   /* -I: idle times by the call chain before them */
};

enum timehist_kind { TIMEHIST_TURN, TIMEHIST_WAKEUP, TIMEHIST_MIGRATION, TIMEHIST_LOST };

struct timehist_row {
	enum timehist_kind kind;
	uint64_t time;
	int32_t cpu;
	uint32_t task;                 /* that left the CPU, or that ran when it woke or migrated the other one; STATES_NO_TASK: unknown */
	uint32_t other;                /* TIMEHIST_WAKEUP, TIMEHIST_MIGRATION */
	uint64_t wait_ns, delay_ns, run_ns;
	bool wait_lost, run_lost;
	const struct turn *turn;       /* TIMEHIST_TURN */
	char letter;                   /* why it left */
	int32_t priority, priority_before; /* at the end and the start of the turn; -1: unknown */
	int32_t from_cpu, to_cpu;
	uint64_t lost;
	const struct sched_event *event;
};

/* Sums of a task, or of an idle task. */
struct timehist_task {
	uint64_t turns;                /* complete ones */
	uint64_t run_ns;               /* known run time; of idle tasks: idle time */
	uint64_t part_ns;              /* of that, outside of complete turns */
	uint64_t sleep_ns, disk_ns, preempted_ns, delay_ns;
	uint64_t min_ns, max_ns;       /* of a turn */
	double mean, squares;          /* Welford's running values of turns */
	uint64_t migrations;
	int32_t start_priority;        /* -1: unknown */
};

struct idle_chain {
	const char *text;
	uint64_t ns, count;
};

struct timehist_cpu {
	uint32_t before_idle;          /* the task before the idle task; STATES_NO_TASK: unknown */
	uint64_t run_ns, idle_ns;
	const char *chain;             /* of the switch to the idle task */
	VEC(struct idle_chain) chains;
};

struct timehist {
	struct timehist_options options;
	struct sched_reader reader;
	void *context;
	void (*row)(void *context, const struct timehist_row *row); /* NULL: only sums */
	const char *(*chain)(void *context, const struct sched_event *event); /* the call chain of a sample as text, valid to the end */
	/* Why the task of a switch will wait, from its call chain; WAIT_UNKNOWN: as its state says. NULL: that for all. */
	enum wait_reason (*reason)(void *context, const struct sched_event *event);
	VEC(struct timehist_task) tasks; /* by index in the states */
	VEC(struct timehist_cpu) cpus;
	uint64_t start, end;           /* of the switches in the range of time; start 0: none */
	uint64_t skipped;              /* events of filtered tasks */
};

void timehist_init(struct timehist *timehist, const struct timehist_options *options, bool live);
void timehist_fini(struct timehist *timehist);
/* Completes the sums, after the session has run. */
void timehist_finish(struct timehist *timehist);

struct timehist_task *timehist_task(struct timehist *timehist, uint32_t index);
/* Whether a filter drops this task. */
bool timehist_drops(struct timehist *timehist, uint32_t task);
/* Relative standard deviation of the mean of a task's turns, in per cent. */
double timehist_deviation(const struct timehist_task *task);

/* Sums over all tasks that are shown. */
struct timehist_totals {
	uint64_t tasks, turns, run_ns, idle_ns, unknown_ns, span_ns;
	unsigned cpus;                 /* CPUs with a switch */
};
struct timehist_totals timehist_totals(struct timehist *timehist);

/* The tasks that have run, in perf's order; the caller frees *indexes. */
size_t timehist_shown(struct timehist *timehist, uint32_t **indexes);

/* Tables of the sums: of tasks and of CPUs. They are valid as long as the analysis and *rows, whose indexes the caller frees. */
struct timehist_tables {
	struct timehist *timehist;
	uint32_t *tasks;
	size_t task_count;
	struct table tables[2];
	struct table_fact facts[5];
};
void timehist_tables_init(struct timehist_tables *tables, struct timehist *timehist);
void timehist_tables_fini(struct timehist_tables *tables);

/* A row as cells, for formats that print row by row. */
enum { TIMEHIST_COLUMNS = 17 };
extern const struct table_column timehist_columns[TIMEHIST_COLUMNS];
void timehist_cells(struct timehist *timehist, const struct timehist_row *row, const char *chain, struct cell cells[TIMEHIST_COLUMNS]);
