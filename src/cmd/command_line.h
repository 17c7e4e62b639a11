/* The command line as a whole: the options before the subcommand (--version, --no-pager …), then the subcommand: one of ours, or a program
 * perf-WORD; for any other word the nearest names. */
#pragma once
#include "cmd/command.h"

/* called: argv[0]. Returns "perf" for perf, otherwise "perfuse". *subcommand: what follows "perf-" or "perfuse-" in the name, if it is a
 * command; NULL. */
const char *program_name(const char *called, const char **subcommand);
/* argv ends with NULL and begins after the program's name. subcommand: of program_name; NULL: argv names it. Returns the exit code. */
int command_line_run(struct cli *cli, const char *subcommand, const char **argv);
