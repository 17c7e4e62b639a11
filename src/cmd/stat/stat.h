/* One run of `stat`, and its parts. */
#pragma once
#include "analysis/stat/stat_table.h"
#include "cmd/command.h"
#include "cmd/stat/options.h"
#include "cmd/stat/recording.h"
#include "event/metric_plan.h"
#include "record/acquire/control.h"
#include "record/count/counting.h"
#include "render/stat/stat_text.h"

struct stat_run {
	struct cli *cli;
	struct stat_options *o;
	const char *const *command;      /* NULL: none */
	struct events events;
	struct metric_plan plan;         /* of the metrics among them */
	VEC(uint32_t) programs;          /* of -b */
	size_t defaults;                 /* how many of the events nobody named */
	size_t first_of_last;            /* of the last -e */
	const char *cpu_type;            /* the PMU of --cputype */
	enum stat_grain grain;
	struct stat_style style;
	bool *unsupported, *hidden;      /* of each event */
	uint32_t *merged;                /* of each event: the one in whose rows it is counted */
	int fd;                          /* where the output goes */
	bool fd_ours;
	struct writer out;
	char thousands[8];
	struct stat_spread elapsed_ns;
	VEC(double) elapsed_list;
	uint64_t user_ns, system_ns;     /* of the last run */
	int status;                      /* of the command, as wait(2) gives it */
	int signal;                      /* that ended the run; 0: none */
	struct counters kept;            /* of the previous run: closed after the next run has opened others, as the kernel patches its code for
	                                  * the last and for the first software event */
	bool system_wide, plain_command; /* the target is the command alone */
	struct control control;
	struct control_line control_line;
	bool records;                    /* stat record */
	struct stat_recording recording;
	bool reported;                   /* the line about missing hardware events is printed */
};

/* Fills `style` and the arrays by event, once the events are known. */
void stat_style_set(struct stat_run *run);
/* Opens the destination of the counts: the path (NULL: none), --log-fd or standard error. Returns an exit code, 0 if it is open. */
int stat_output_open(struct stat_run *run, const char *path);
void stat_output_close(struct stat_run *run);
/* The lines above the counts of a text that is no series of intervals. */
void stat_output_title(struct stat_run *run, int runs);
/* The rows of counts as they are printed once: title, rows, times. prefix: begins each line of -x. */
void stat_output_counts(struct stat_run *run, const struct stat_table *table, const char *prefix, bool title);
/* The grain of the given options, the last of them in perf's order; STAT_ALL without any. */
enum stat_grain stat_grain_of(const struct stat_report_options *options);
/* `stat report`: prints a recording. argv: its words after "report". Returns an exit code. */
int stat_report(struct stat_run *run, int argc, const char **argv);
/* Runs the command once and prints what it counts by intervals. Adds the counts to the table. Returns an exit code. */
int stat_run_once(struct stat_run *run, struct stat_table *table);
