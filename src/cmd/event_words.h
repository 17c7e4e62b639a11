/* -e, --pfm-events, --filter, --exclude-perf and -G of the commands that sample: each applies to the events before it, so they are stored
 * in the order of the command line and become events together. */
#pragma once
#include "base/vec.h"
#include "cmd/command.h"
#include "event/event.h"

enum event_word_kind { WORD_EVENT, WORD_PFM_EVENT, WORD_FILTER, WORD_EXCLUDE_SELF, WORD_CGROUP };

struct event_word {
	enum event_word_kind kind;
	const char *text;
};

struct event_words {
	struct cli *cli;
	const struct command *command;  /* whose usage is printed about a wrong option */
	struct events *events;          /* what is parsed is added here */
	bool conditions;                /* --filter may be a condition on samples, which the command attaches (event.condition) */
	size_t last;                    /* the first event of the last -e: what filters act on */
	struct str text;                /* filters put together */
};

/* 0, or the exit code after the complaint. */
int event_words_take(struct event_words *words, const struct event_word *list, size_t count);
int event_words_parse(struct event_words *words, const char *text, const char *option);
void event_words_fini(struct event_words *words);
/* Prints the row of an option ("e", "call-graph") of the command's usage, returns EXIT_USAGE. */
int event_words_usage(const struct cli *cli, const struct command *command, const char *option);
