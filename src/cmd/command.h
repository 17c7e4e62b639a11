/* One subcommand: its words, its options, its run(). A file cmd/NAME.c defines `const struct command command_NAME`,
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

struct budget;

/* What every command is given. */
struct debuginfod;

struct cli {
	struct writer *out;         /* stdout; flushed by main */
	const char *program;        /* the word we were called by: "perf" or "perfuse" */
	const char *buildid_dir;    /* --buildid-dir, config or $HOME/.debug, unchecked; NULL: none. See environment_cache */
	bool cache_told;            /* why the build-id cache is not used was said */
	const struct config *config;
	struct budget *budget;      /* memory for what files of others make grow: asked by all that reads them */
	const char *kept_dir;       /* the user's cache, where lists may be kept between runs; NULL: nowhere */
	struct debuginfod *servers; /* of this run: see servers.h */
	bool tty_out, tty_err;      /* stdout before any pager; stderr */
	int pager_pid;              /* 0: none runs */
	int use_pager;              /* -1 unset, 0 --no-pager, 1 -p */
	int verbose;
};

struct command {
	const char *name;
	const char *summary;           /* one line for `help` */
	const char *const *usage;      /* NULL-terminated: "perf report [<options>]" */
	const struct option *options;
	size_t options_size;           /* sizeof the struct the table fills; run gets it filled */
	void (*defaults)(void *options, const struct cli *cli); /* NULL: all zero */
	unsigned options_mode;         /* enum options_mode */
	/* argc/argv: what the options left. Returns the exit code. */
	int (*run)(struct cli *cli, void *options, int argc, const char **argv);
	const char *const *subcommands; /* NULL-terminated words for completion (--list-cmds); NULL: none */
	bool pages;                    /* output goes through the pager where stdout is a terminal */
};

/* Adds a text that names commands to type ("perf record") with our own name in them. What begins with a bracket ("[ perf record: ")
 * stays: programs look for it. Messages need no call of this. */
void cli_named(const struct cli *cli, struct str *to, const char *text);
/* One sentence (and its hint) on stderr, control characters made harmless. Returns EXIT_ERROR, for the caller to return. */
int cli_complain(const struct cli *cli, const struct error *err);
/* A warning on stderr. Arguments stay in the line where they are; "%s" alone is a text of ours with its lines. */
void cli_warn(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints *err (if set) and the usage to stderr, returns EXIT_USAGE. */
int cli_usage(const struct cli *cli, const struct command *command, const struct error *err);
/* Runs one subcommand: parses argv (without its name), answers -h and --list-opts, calls run. Returns the exit code. */
int command_run(struct cli *cli, const struct command *command, int argc, const char **argv);
/* Starts the pager as perf would (config pager.CMD, PERF_PAGER, PAGER, less, cat), unless told not to: from here on stdout
 * and, where it is a terminal, stderr go there. Once; main waits for it at the end. */
void cli_pager(struct cli *cli, const struct command *command);
/* Closes stdout and waits for the pager, where one runs. */
void cli_pager_end(struct cli *cli);
