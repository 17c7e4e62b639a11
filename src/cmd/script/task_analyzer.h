/* `script report task-analyzer`: perf's script of that name. */
#pragma once
#include "cmd/input.h"

struct task_analyzer_options {
	struct input_options input;    /* of `script` */
	const char *time_limit, *hidden, *shown, *highlighted, *renamed, *colour, *csv, *csv_summary;
	bool summary, summary_only, summary_extended, nanoseconds, milliseconds, extended;
};

/* Its name is the script's. */
extern const struct command task_analyzer;
