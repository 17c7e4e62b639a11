/* The exit codes of all commands. They are those of perf: where perf returns -1 or a negative errno from main, the code is its low eight
 * bits. The section EXIT STATUS of docs/help.adoc lists them; tools/check-docs compares the two. 0 is success. The exit code of `record`
 * is that of its workload. */
#pragma once

enum exit_code {
	EXIT_ERROR = 1,         /* the output cannot be written, or another failure without a separate code */
	EXIT_NO = 1,            /* the answer to a question is no (check, buildid-list --kernel) */
	EXIT_CHANGED = 2,       /* diff, compare: a change above --fail-above */
	EXIT_NO_PAGE = 16,      /* help: no such page; this is man's code */
	EXIT_NOT_STARTED = 127, /* a child process: its program cannot be started; this is the shell's code */
	EXIT_USAGE = 129,       /* the command line is wrong, or -h asked for the usage */
	EXIT_LISTED = 130,      /* --list-opts, --list-cmds */
	EXIT_NOT_SUPPORTED = 161, /* EOPNOTSUPP: probe: a place such as %entry */
	EXIT_NO_DEBUG = 195,    /* ENODATA: probe: a line or variable needs the debug information that the file lacks */
	EXIT_INVALID = 234,     /* EINVAL: a value is invalid for this recording or this machine */
	EXIT_NO_DEVICE = 237,   /* ENODEV: record: a CPU does not exist; probe: debug information has no such place */
	EXIT_NO_PROCESS = 244,  /* record: a process does not exist (perf: ENOMEM) */
	EXIT_NO_EVENT = 254,    /* ENOENT: an event of --switch-on or --switch-off is not in the recording */
	EXIT_FAILED = 255,      /* the recording cannot be opened or made, or it lacks what was asked for */
	EXIT_DAMAGED = 255,     /* some recorded data cannot be read */
};
