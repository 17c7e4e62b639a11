/* Every subcommand there is, by name. The list itself is in meson.build. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cmd/command.h"

size_t commands_count(void);
const struct command *commands_at(size_t i); /* in order of their names */
const struct command *commands_find(const char *name); /* NULL where there is none */
/* Whether perf 6.12 has a command of this name and we have none yet. */
bool commands_awaited(const char *name);
/* How many edits lead from one word to the other; what "did you mean" goes by. */
unsigned word_distance(const char *a, const char *b);
