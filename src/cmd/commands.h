/* Every subcommand, by name. src/cmd/meson.build has the list. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "cmd/command.h"

size_t commands_count(void);
const struct command *commands_at(size_t i); /* in order of their names */
const struct command *commands_find(const char *name); /* NULL: no such command */
/* Whether perf 6.12 has a command of this name that perfuse does not have yet. */
bool commands_awaited(const char *name);
/* How many edits lead from one word to the other: a letter added, removed or replaced, or two neighbours swapped. Words of more than 64
 * letters count as far. */
unsigned word_distance(const char *a, const char *b);
/* Appends the commands nearest to a misspelt word, at most two edits away: "\tNAME" each, a newline between them. Returns how many. */
size_t commands_nearest(const char *word, struct str *names);

/* A command line that one command makes for another: `lock record` for record. Words are borrowed. */
struct command_words {
	VEC(const char *) list;
};

void command_words_add(struct command_words *words, const char *const *more, size_t count);
/* Runs the command with these words and frees the list. Returns the exit code. */
int command_words_run(struct command_words *words, struct cli *cli, const char *command);
