/* The options of `compare`, and the two commands that it runs. */
#pragma once
#include "analysis/runs/runs.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/format_option.h"

struct compare_options {
	const char *events;           /* NULL: the default ones */
	const char *commands[RUN_SIDES]; /* --a, --b; NULL: not given */
	unsigned runs, warmup;
	bool ignore_failure, quiet;
	bool fail_given;
	double fail_above;            /* percent */
	const struct format *format;  /* NULL: text */
};

extern const struct option compare_table[];
extern const char *const compare_usage[];
void compare_defaults(void *target, const struct cli *cli);

/* Words of a command, ended by NULL; in the arena or borrowed. */
struct command_words {
	VEC(const char *) list;
};

/* Splits a command into words at blanks. Quotes ('…' as it is, "…" with backslashes) and backslashes protect blanks; no shell is involved:
 * variables, patterns and redirections are plain text. Fails if a quote does not end or there is no word. */
int command_words_split(struct command_words *words, const char *text, struct arena *arena, struct error *err);
