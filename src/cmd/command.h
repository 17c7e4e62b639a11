/* One subcommand: its words, its options, its run(). A file cmd/NAME.c (or cmd/NAME/NAME.c) defines `const struct command command_NAME`,
 * and meson.build lists its word. Only this layer talks to the user: stdout through cli.out, complaints through
 * cli_complain. */
#pragma once
#include <stdbool.h>

#include "base/config.h"
#include "base/error.h"
#include "base/options.h"
#include "base/str.h"
#include "base/writer.h"
#include "cmd/exit_code.h"

struct browse_screen;
struct budget;
struct debuginfod;

/* What every command gets. */
struct cli {
	struct writer *out;         /* stdout; flushed by main */
	const char *program;        /* the name that the program was called by: "perf" or "perfuse" */
	const char *buildid_dir;    /* --buildid-dir, config or $HOME/.debug, unchecked; NULL: none is set. See environment_cache */
	bool cache_reported;        /* the reason why the build-id cache is not used was printed */
	const struct config *config;
	struct budget *budget;      /* limit of memory for the content of foreign files */
	const char *user_cache_dir; /* where lists may be stored between runs; NULL: nowhere */
	struct debuginfod *servers; /* of this run: see servers.h */
	struct browse_screen *screen; /* opens when a recording is read; NULL: the command does not browse */
	bool tty_out, tty_err;      /* stdout before any pager; stderr */
	int pager_pid;              /* 0: no pager runs */
	int use_pager;              /* -1 unset, 0 --no-pager, 1 -p */
	int verbose;
	bool describes;             /* --list-opts describes each option */
};

struct command {
	const char *name;
	const char *summary;           /* one line for `help` */
	const char *const *usage;      /* NULL-terminated: "perf report [<options>]" */
	const struct option *options;
	size_t options_size;           /* sizeof the struct the table fills; run gets it filled */
	void (*defaults)(void *options, const struct cli *cli); /* NULL: all zero */
	unsigned options_mode;         /* enum options_mode */
	/* argc/argv: the words that are no options. Returns the exit code. */
	int (*run)(struct cli *cli, void *options, int argc, const char **argv);
	void (*release)(void *options); /* NULL: the options own nothing; also if they are refused, so that run is not called */
	const char *const *subcommands; /* NULL-terminated words for completion (--list-cmds); NULL: none */
	bool pages;                    /* output passes through the pager if stdout is a terminal */
};

/* Appends a text in which commands to type ("perf record") get the name of this program. A text that begins with a bracket
 * ("[ perf record: ") is unchanged, as programs look for it. cli_complain and cli_warn do this to their messages. */
void cli_named(const struct cli *cli, struct str *to, const char *text);
/* Prints one sentence (and its hint) on stderr, control characters made harmless. Returns EXIT_ERROR, for the caller to return. */
int cli_complain(const struct cli *cli, const struct error *err);
/* Prints a warning on stderr. Line ends in arguments become '?'; the argument of a lone "%s" is a text of our own, whose line ends stay. */
void cli_warn(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints *err (if set) and the usage to stderr, returns EXIT_USAGE. */
int cli_usage(const struct cli *cli, const struct command *command, const struct error *err);
/* Runs one subcommand: parses argv (without its name), answers -h and --list-opts, calls run. Returns the exit code. */
int command_run(struct cli *cli, const struct command *command, int argc, const char **argv);
/* The same for a command of a command ("daemon start"), whose options have the values that were read before its word. */
int command_run_filled(struct cli *cli, const struct command *command, void *options, int argc, const char **argv);
/* Starts the pager that perf would start (config pager.CMD, PERF_PAGER, config core.pager, PAGER, an installed one), unless use_pager is 0:
 * from here on stdout and, if it is a terminal, stderr are its input. Only the first call starts it; main waits for it at the end. */
void cli_pager(struct cli *cli, const struct command *command);
/* Closes stdout and waits for the pager, if one runs. */
void cli_pager_end(struct cli *cli);
