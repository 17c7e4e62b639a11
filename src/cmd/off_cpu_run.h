/* Records blocked time (record --off-cpu) or samples in a child process, for commands that analyse it at once: `offcpu`,
 * `lock contention --user`, `blocking`. */
#pragma once
#include <stdint.h>

#include "base/error.h"
#include "cmd/command.h"

struct off_cpu_request {
	const char *pids, *tids, *cpus, *uid;
	const char *event;               /* recorded beside: "dummy:u" or "cpu-clock" */
	const char *details;             /* of --off-cpu-details */
	const char *frequency;           /* samples of the event, with call chains, and no blocked time; NULL: blocked time */
	bool all_cpus;                   /* also if nothing else is requested */
	bool around_command;             /* all CPUs, although there is a command: events of its threads would make their switches slower */
	const char *output;              /* NULL: a temporary file */
	const char *const *command;      /* NULL: until a signal */
	int command_words;
};

/* Rows of what is measured. S: the command's struct, R: its struct off_cpu_request. */
#define OFF_CPU_TARGET_OPTIONS(S, R)                                                                                     \
	OPT_STRING('p', "pid", S, R.pids, "pid", "measure these processes"),                                                 \
	OPT_STRING('t', "tid", S, R.tids, "tid", "measure these threads"),                                                   \
	OPT_BOOL('a', "all-cpus", S, R.all_cpus, "measure the whole machine (unless a command, processes or threads are given)")

struct off_cpu_recording {
	bool temporary;                  /* the recording is a file without a name, which nothing can leave behind */
	int file;                        /* its descriptor */
	char path[4096];
	int32_t recorder;                /* process id of `record`: the parent of the command */
	uint64_t switches;               /* of the command, and the few of `record` itself */
};

/* Fills *recording. Returns 0, or an exit code after `record` has complained. */
int off_cpu_run(struct cli *cli, const struct off_cpu_request *request, struct off_cpu_recording *recording);
/* Closes a temporary file; where it was opened by its path it remains readable. */
void off_cpu_remove(struct off_cpu_recording *recording);
