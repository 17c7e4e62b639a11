/* Declarative command-line options: a table that fills the command's own struct, and yields parsing, -h, completion
 * (--list-opts) and the configuration key.
 *
 * Grammar is the one perf's users know: -a, -abc clusters, -oFILE, -o FILE, --name, --name=ARG, --name ARG, unique prefixes,
 * --no-name for what can be negated (and --name for an option whose own name starts with "no-"), "--" ends the options.
 * Knows no command. Nothing here prints: help goes to a writer, failures to *err. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/writer.h"

enum option_kind {
	OPTION_END,      /* closes the table */
	OPTION_GROUP,    /* a heading in -h; only `help` is used */
	OPTION_BOOL,     /* bool */
	OPTION_INCR,     /* int: counts how often it is given; --no- sets 0 */
	OPTION_INT,      /* int */
	OPTION_UINT,     /* unsigned */
	OPTION_U64,      /* uint64_t */
	OPTION_STRING,   /* const char *, borrowed from argv */
	OPTION_CALLBACK, /* whatever `set` makes of it */
};

enum option_flag {
	OPTION_OPTARG = 1 << 0,      /* the argument may be left out (then only --name=ARG or -nARG give one; NULL reaches `set`) */
	OPTION_NOARG = 1 << 1,       /* a callback that takes no argument */
	OPTION_HIDDEN = 1 << 2,      /* known, not shown by -h */
	OPTION_NONEG = 1 << 3,       /* has no --no- form */
	OPTION_UNSUPPORTED = 1 << 4, /* known, answers "not supported yet" and exits 129 */
	OPTION_STOP = 1 << 5,        /* parsing of options ends right after this one */
	OPTION_EXCLUSIVE = 1 << 6,   /* at most one of the options with this flag may be given */
	OPTION_LASTARG = 1 << 8,     /* the argument may be left out at the end and before a word with a dash (NULL reaches `set`) */
	OPTION_OWN = 1 << 9,         /* not one of perf's: only its whole name means it, so that perf's abbreviations stay as they are */
	OPTION_ARG = 1 << 7,         /* with OPTION_UNSUPPORTED on kind BOOL rows that do take an argument in perf */
};

struct option {
	enum option_kind kind;
	char short_name;       /* 0: none */
	const char *long_name; /* NULL: none */
	const char *arg;       /* what -h calls the argument: "file", "n"; NULL: none */
	const char *help;      /* one line, our own words */
	unsigned flags;
	size_t offset;         /* of the field in the command's struct */
	/* OPTION_CALLBACK: arg is NULL where absent; unset is true for the --no- form. < 0 with *err set refuses. */
	int (*set)(void *target, const struct option *option, const char *arg, bool unset, struct error *err);
	const char *fallback;  /* with OPTION_OPTARG or _LASTARG, not for callbacks: the value where no argument is given */
	size_t was_set;        /* offset of a bool that tells whether the option was given; 0: nobody asks (never the first field) */
};

/* Rows of a table. S is the command's struct, F its field. OPTION_ROW takes what else a row has (flags, fallback, was_set). */
#define OPTION_ROW(K, c, name, S, F, text, ...)                                                                        \
	{ .kind = OPTION_##K, .short_name = (c), .long_name = (name), .offset = offsetof(S, F), .help = (text), __VA_ARGS__ }
#define OPT_GROUP(text) { .kind = OPTION_GROUP, .help = (text) }
#define OPT_BOOL(c, name, S, F, text) OPTION_ROW(BOOL, c, name, S, F, text, )
#define OPT_INCR(c, name, S, F, text) OPTION_ROW(INCR, c, name, S, F, text, )
#define OPT_INT(c, name, S, F, text) OPTION_ROW(INT, c, name, S, F, text, .arg = "n")
#define OPT_UINT(c, name, S, F, text) OPTION_ROW(UINT, c, name, S, F, text, .arg = "n")
#define OPT_U64(c, name, S, F, text) OPTION_ROW(U64, c, name, S, F, text, .arg = "n")
#define OPT_STRING(c, name, S, F, a, text) OPTION_ROW(STRING, c, name, S, F, text, .arg = (a))
#define OPT_CALLBACK(c, name, S, F, a, text, fn) OPTION_ROW(CALLBACK, c, name, S, F, text, .arg = (a), .set = (fn))
/* A callback with more flags: OPT_CALLBACK_FLAGS(..., OPTION_OPTARG). */
#define OPT_CALLBACK_FLAGS(c, name, S, F, a, text, fn, fl)                                                             \
	OPTION_ROW(CALLBACK, c, name, S, F, text, .arg = (a), .set = (fn), .flags = (fl))
/* Known but not built yet: without an argument, with one, and with one that may be left out. */
#define OPTION_LATER(c, name, a, text, fl)                                                                             \
	{ .kind = OPTION_BOOL, .short_name = (c), .long_name = (name), .arg = (a), .help = (text),                      \
	  .flags = OPTION_UNSUPPORTED | (fl) }
#define OPT_LATER(c, name, text) OPTION_LATER(c, name, NULL, text, 0)
#define OPT_LATER_ARG(c, name, a, text) OPTION_LATER(c, name, a, text, OPTION_ARG)
#define OPT_LATER_OPTARG(c, name, a, text) OPTION_LATER(c, name, a, text, OPTION_ARG | OPTION_OPTARG)
#define OPT_END() { .kind = OPTION_END }

enum options_result {
	OPTIONS_DONE = 0,      /* argv[0 .. return) holds what is left */
	OPTIONS_HELP = -2,     /* -h or --help was given; the words after it stand at the front of argv, then NULL */
	OPTIONS_LIST = -3,     /* --list-opts was given */
	OPTIONS_LIST_COMMANDS = -4, /* --list-cmds was given */
	OPTIONS_BAD = -1,      /* *err says why (ERROR_OPTION); exit 129 after the usage */
};

enum options_mode {
	OPTIONS_STOP_AT_NON_OPTION = 1 << 0, /* the first word that is no option ends the options (record's command) */
	OPTIONS_KEEP_UNKNOWN = 1 << 1,
};

/* Parses argv[0..argc) (without the command's name), fills target, moves what is left to the front of argv and returns how
 * many that are, or one of enum options_result (< 0). "--" is dropped. */
int options_parse(const struct option *table, void *target, int argc, const char **argv, unsigned mode, struct error *err);

/* The usage lines alone, and the blank line after them. */
void options_usage(const char *const *usage, struct writer *out);
/* -h as perf lays it out: usage, blank, groups, "    -x, --name <arg>      text". `only`: what to restrict it to, or NULL. */
void options_help(const struct option *table, const char *const *usage, const char *const *only, struct writer *out);
/* Every "--name " (the hidden ones too) on one line, for shell completion. */
void options_list(const struct option *table, struct writer *out);
