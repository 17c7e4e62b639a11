#include "cmd/compare/options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"

const char *const compare_usage[] = {
	"perf compare [<options>] -- <command A> -- <command B>",
	"perf compare [<options>] --a '<command A>' --b '<command B>'",
	"perf compare [<options>] <results of stat -j or stat record> <results>", NULL
};

static int set_fail_above(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct compare_options *options = target;
	char *end;
	options->fail_above = strtod(arg, &end);
	options->fail_given = true;
	if (end == arg || (*end && strcmp(end, "%") != 0) || !(options->fail_above >= 0 && options->fail_above <= 1e6))
		return error_set(err, ERROR_USAGE, "--fail-above takes a percentage such as 3%%, not '%s'", arg);
	return 0;
}

#define O struct compare_options
const struct option compare_table[] = {
	OPT_STRING('e', "event", O, events, "event", "count these events (time, switches, migrations, faults, cycles, instructions)"),
	OPT_STRING(0, "a", O, commands[RUN_A], "command", "the first command, as one text: words are separated by blanks, quotes group"),
	OPT_STRING(0, "b", O, commands[RUN_B], "command", "the second command"),
	OPT_UINT('n', "runs", O, runs, "how often each command runs, in turns (20)"),
	OPT_UINT(0, "warmup", O, warmup, "runs of each before these, which do not count (1)"),
	OPT_BOOL('i', "ignore-failure", O, ignore_failure, "continue if a command fails"),
	OPT_BOOL('q', "quiet", O, quiet, "no note on events that cannot be counted"),
	OPTION_ROW_AT(CALLBACK, 0, "fail-above", OPTION_FIELD(O, fail_above, double),
		"exit with 2 if a counter has changed by more than this", .arg = "percent", .set = set_fail_above, .flags = OPTION_NONEG),
	OPT_FORMAT(O, format),
	OPT_END(),
};
#undef O

void compare_defaults(void *target, const struct cli *cli)
{
	enum { RUNS_DEFAULT = 20 };
	struct compare_options *options = target;
	double runs = config_double(cli->config, "compare.runs", RUNS_DEFAULT);
	options->runs = runs >= 1 && runs <= 1e6 ? (unsigned)runs : RUNS_DEFAULT;
	options->warmup = 1;
	options->events = config_get(cli->config, "compare.events");
	if (config_get(cli->config, "compare.fail-above")) {
		options->fail_given = true;
		options->fail_above = config_double(cli->config, "compare.fail-above", 0);
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

int command_words_split(struct command_words *words, const char *text, struct arena *arena, struct error *err)
{
	CLEANUP_STR struct str word = { 0 };
	char quote = '\0';
	bool inside = false; /* of a word, also of an empty one in quotes */
	for (const char *at = text;; at++) {
		if (!quote && (!*at || is_blank(*at))) {
			if (inside)
				vec_push(&words->list, arena_string(arena, str_text(&word), word.len));
			str_clear(&word);
			inside = false;
			if (!*at)
				break;
			continue;
		}
		if (!*at)
			return error_set(err, ERROR_USAGE, "a quote does not end in the command: %s", text);
		inside = true;
		if (*at == quote)
			quote = '\0';
		else if (!quote && (*at == '\'' || *at == '"'))
			quote = *at;
		else if (*at == '\\' && quote != '\'' && at[1])
			str_putc(&word, *++at);
		else
			str_putc(&word, *at);
	}
	if (!words->list.count)
		return error_set(err, ERROR_USAGE, "a command is empty");
	vec_push(&words->list, NULL);
	return 0;
}
