/* One run of `stat`, and its parts. */
#pragma once
#include "analysis/stat/stat_table.h"
#include "cmd/command.h"
#include "cmd/stat/options.h"
#include "record/count/counting.h"
#include "render/stat/stat_text.h"

struct stat_run {
	struct cli *cli;
	struct stat_options *o;
	const char *const *command;      /* NULL: none */
	struct events events;
	size_t defaults;                 /* how many of the events nobody named */
	size_t first_of_last;            /* of the last -e */
	enum stat_grain grain;
	struct stat_style style;
	bool *unsupported, *hidden;      /* of each event */
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
	bool reported;                   /* the line about missing hardware events is printed */
};

/* Opens the destination of the output. Returns an exit code, 0 if it is open. */
int stat_output_open(struct stat_run *run);
void stat_output_close(struct stat_run *run);
/* The lines above the counts of a text that is no series of intervals. */
void stat_output_title(struct stat_run *run, int runs);
/* Runs the command once and prints what it counts by intervals. Adds the counts to the table. Returns an exit code. */
int stat_run_once(struct stat_run *run, struct stat_table *table);
