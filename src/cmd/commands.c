#include "cmd/commands.h"

#include <string.h>

#include "cmd/command_words.h" /* made by meson: COMMANDS(X) is X(word) for each command */

#define DECLARE(name) extern const struct command command_##name;
COMMANDS(DECLARE)

#define ADDRESS(name) &command_##name,
static const struct command *const commands[] = { COMMANDS(ADDRESS) };

/* All of perf 6.12's. */
static const char *const of_perf[] = {
	"annotate", "archive", "bench", "buildid-cache", "buildid-list", "c2c", "check", "config", "daemon", "data", "diff", "evlist", "ftrace",
	"help", "inject", "iostat", "kallsyms", "kmem", "kvm", "kwork", "list", "lock", "mem", "probe", "record", "report", "sched", "script",
	"stat", "test", "timechart", "top", "trace", "version",
};

bool commands_awaited(const char *name)
{
	for (size_t i = 0; i < sizeof of_perf / sizeof *of_perf; i++) {
		if (!strcmp(of_perf[i], name))
			return !commands_find(name);
	}
	return false;
}

size_t commands_count(void)
{
	return sizeof commands / sizeof *commands;
}

const struct command *commands_at(size_t i)
{
	return commands[i];
}

const struct command *commands_find(const char *name)
{
	for (size_t i = 0; i < commands_count(); i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Levenshtein's, with a swap of neighbours as one edit; one row of the table at a time. */
unsigned word_distance(const char *a, const char *b)
{
	enum { LENGTH_MAX = 64 };
	unsigned rows[3][LENGTH_MAX + 1];
	size_t n = strlen(a), m = strlen(b);
	if (n > LENGTH_MAX || m > LENGTH_MAX)
		return LENGTH_MAX;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3], *twice = rows[(i + 1) % 3];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], twice[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

size_t commands_nearest(const char *word, struct str *names)
{
	const unsigned far = 3;
	unsigned best = far;
	for (size_t i = 0; i < commands_count(); i++)
		best = least(best, word_distance(word, commands_at(i)->name));
	size_t found = 0;
	for (size_t i = 0; best < far && i < commands_count(); i++) {
		if (word_distance(word, commands_at(i)->name) == best)
			str_printf(names, "%s\t%s", found++ ? "\n" : "", commands_at(i)->name);
	}
	return found;
}

void command_words_add(struct command_words *words, const char *const *more, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vec_push(&words->list, more[i]);
}

int command_words_run(struct command_words *words, struct cli *cli, const char *command)
{
	int count = (int)words->list.count;
	vec_push(&words->list, NULL);
	int code = command_run(cli, commands_find(command), count, words->list.items);
	vec_fini(&words->list);
	return code;
}
