/* Declarative command-line options: a table fills the command's struct, and yields parsing, -h, completion (--list-opts) and configuration
 * keys.
 *
 * The grammar is perf's: -a, clusters -abc, -oFILE, -o FILE, --name, --name=ARG, --name ARG, unique prefixes, --no-name for options that
 * can be negated (and --name for an option whose own name starts with "no-"), "--" ends the options. Knows no command. Prints nothing: help
 * is written to a writer, failures to *err. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/writer.h"

enum option_kind {
	OPTION_END,      /* ends the table */
	OPTION_GROUP,    /* a heading in -h; only `help` is used */
	OPTION_BOOL,     /* bool */
	OPTION_INCR,     /* int: counts its occurrences; --no- sets 0 */
	OPTION_INT,      /* int */
	OPTION_UINT,     /* unsigned */
	OPTION_U64,      /* uint64_t */
	OPTION_STRING,   /* const char *, borrowed from argv */
	OPTION_CALLBACK, /* `set` stores the value */
};

enum option_flag {
	OPTION_OPTARG = 1 << 0,      /* the argument is optional (only --name=ARG or -nARG pass one; otherwise `set` gets NULL) */
	OPTION_NOARG = 1 << 1,       /* a callback that takes no argument */
	OPTION_HIDDEN = 1 << 2,      /* accepted, not shown by -h */
	OPTION_NONEG = 1 << 3,       /* has no --no- form */
	OPTION_UNSUPPORTED = 1 << 4, /* recognized; fails with "not supported yet" and exit code 129 */
	OPTION_STOP = 1 << 5,        /* option parsing ends after this option */
	OPTION_EXCLUSIVE = 1 << 6,   /* at most one of the options with this flag may be given */
	OPTION_LASTARG = 1 << 8,     /* the argument is optional at the end and before a word with a dash (`set` gets NULL) */
	OPTION_OWN = 1 << 9,         /* not an option of perf: only its full name matches, so that perf's abbreviations stay unambiguous */
	OPTION_ARG = 1 << 7,         /* with OPTION_UNSUPPORTED on kind BOOL: the option takes an argument in perf */
};

struct option {
	enum option_kind kind;
	char short_name;       /* 0: none */
	const char *long_name; /* NULL: none */
	const char *arg;       /* placeholder of the argument in -h: "file", "n"; NULL: none */
	const char *help;      /* in our own words; -h breaks it into lines of 80 columns */
	void (*words)(struct str *to); /* appends the possible values to the help; NULL: none */
	unsigned flags;
	size_t offset;         /* of the field in the command's struct, in bytes; callbacks: see OPTION_ROW */
	/* OPTION_CALLBACK: arg is NULL if absent; unset is true for the --no- form. Returns < 0 with *err set to reject. */
	int (*set)(void *target, const struct option *option, const char *arg, bool unset, struct error *err);
	const char *fallback;  /* with OPTION_OPTARG or _LASTARG, not for callbacks: the value without an argument */
	size_t was_set;        /* offset of a bool that stores whether the option was given; 0: not stored (never the first field) */
};

/* Rows of a table. S is the command's struct, F its field, whose type the compiler checks against the kind of the option. OPTION_ROW takes
 * the other members (flags, fallback, was_set). A callback stores through the struct, and its F says for readers where: `offset` is 0, so
 * that no field is filled whose type was not checked. A callback for several structs needs one: OPTION_ROW_AT with OPTION_FIELD. */
#define OPTION_FIELD(S, F, T) (offsetof(S, F) + 0 * sizeof(char[_Generic(((S *)0)->F, T: 1, default: -1)]))
#define OPTION_AT_BOOL(S, F) OPTION_FIELD(S, F, bool)
#define OPTION_AT_INCR(S, F) OPTION_FIELD(S, F, int)
#define OPTION_AT_INT(S, F) OPTION_FIELD(S, F, int)
#define OPTION_AT_UINT(S, F) OPTION_FIELD(S, F, unsigned)
#define OPTION_AT_U64(S, F) OPTION_FIELD(S, F, uint64_t)
#define OPTION_AT_STRING(S, F) OPTION_FIELD(S, F, const char *)
#define OPTION_AT_CALLBACK(S, F) (0 * offsetof(S, F))
#define OPTION_ROW_AT(K, c, name, at, text, ...)                                                                       \
	{ .kind = OPTION_##K, .short_name = (c), .long_name = (name), .offset = (at), .help = (text), __VA_ARGS__ }
#define OPTION_ROW(K, c, name, S, F, text, ...) OPTION_ROW_AT(K, c, name, OPTION_AT_##K(S, F), text, __VA_ARGS__)
/* The bool that stores whether an option was given: .was_set = OPTION_GIVEN(S, F). */
#define OPTION_GIVEN(S, F) OPTION_FIELD(S, F, bool)
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
/* Unsupported options: without an argument, with one, and with an optional one. */
#define OPTION_LATER(c, name, a, text, fl)                                                                             \
	{ .kind = OPTION_BOOL, .short_name = (c), .long_name = (name), .arg = (a), .help = (text),                      \
	  .flags = OPTION_UNSUPPORTED | (fl) }
#define OPT_LATER(c, name, text) OPTION_LATER(c, name, NULL, text, 0)
#define OPT_LATER_ARG(c, name, a, text) OPTION_LATER(c, name, a, text, OPTION_ARG)
#define OPT_LATER_OPTARG(c, name, a, text) OPTION_LATER(c, name, a, text, OPTION_ARG | OPTION_OPTARG)
#define OPT_END() { .kind = OPTION_END }

enum options_result {
	OPTIONS_DONE = 0,      /* argv[0 .. return) holds the remaining words */
	OPTIONS_HELP = -2,     /* -h or --help was given; the words after it are at the front of argv, followed by NULL */
	OPTIONS_LIST = -3,     /* --list-opts was given */
	OPTIONS_LIST_COMMANDS = -4, /* --list-cmds was given */
	OPTIONS_BAD = -1,      /* *err describes the error (ERROR_OPTION); print the usage and exit with 129 */
};

enum options_mode {
	OPTIONS_STOP_AT_NON_OPTION = 1 << 0, /* the first word that is not an option ends the options (record's command) */
	OPTIONS_KEEP_UNKNOWN = 1 << 1,
};

/* Parses argv[0..argc) (without the command's name), fills target, moves the remaining words to the front of argv and returns their number,
 * or a value of enum options_result (< 0). "--" is dropped. */
int options_parse(const struct option *table, void *target, int argc, const char **argv, unsigned mode, struct error *err);

/* Writes the usage lines and an empty line. */
void options_usage(const char *const *usage, struct writer *out);
/* Writes -h in perf's layout: usage, empty line, groups, "    -x, --name <arg>      text". `only`: the words that restrict the rows, or
 * NULL. */
void options_help(const struct option *table, const char *const *usage, const char *const *only, struct writer *out);
/* Writes every "--name " (hidden ones, too) on one line, for shell completion. */
void options_list(const struct option *table, struct writer *out);
/* Writes a line "--name<TAB>help" for each option that -h shows, "-x<TAB>help" for those without a name. */
void options_describe(const struct option *table, struct writer *out);
