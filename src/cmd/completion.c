#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "cmd/command_line.h"
#include "cmd/commands.h"
#include "cmd/page.h"

static const struct option completion_table[] = { OPT_END() };

static const char *const completion_usage[] = { "perf completion {bash|fish|zsh}", "perf completion words -- [<word>...]", NULL };
static const char *const completion_words[] = { "bash", "fish", "words", "zsh", NULL };

/* The words of an unfinished command line, without the program; the last one is to be completed. */
struct unfinished {
	struct cli *cli;
	const char *const *words;
	size_t count;
	const char *current;
	size_t command;           /* index of the command; count - 1: it is the current word */
};

static void print_script(struct cli *cli, const struct page *script)
{
	static const char mark[] = "@PROGRAM@";
	const char *text = script->text;
	for (const char *at; (at = strstr(text, mark)); text = at + sizeof mark - 1) {
		writer_add(cli->out, text, (size_t)(at - text));
		writer_puts(cli->out, cli->program);
	}
	writer_puts(cli->out, text);
}

/* Prints a candidate: the word, and its meaning. */
static void offer(const struct unfinished *line, const char *word, size_t length, const char *meaning)
{
	size_t typed = strlen(line->current);
	if (length < typed || strncmp(word, line->current, typed) != 0)
		return;
	writer_add(line->cli->out, word, length);
	writer_printf(line->cli->out, "\t%s\n", meaning ? meaning : "");
}

static void offer_commands(const struct unfinished *line)
{
	for (size_t i = 0; i < commands_count(); i++)
		offer(line, commands_at(i)->name, strlen(commands_at(i)->name), commands_at(i)->summary);
}

/* The output of a command line, in memory. */
static void capture(const struct unfinished *line, struct writer *out, const char *command, const char **argv)
{
	struct cli cli = *line->cli;
	writer_open(out, -1, 0);
	cli.out = out;
	cli.use_pager = 0;
	cli.describes = true;
	command_line_run(&cli, command, argv);
	writer_putc(out, '\0');
}

/* "--list-opts" of the program (names between blanks), or of a command and its part (lines of name, tab, meaning). */
static void offer_options(const struct unfinished *line, const char *command, const char *part)
{
	const char *argv[] = { part ? part : "--list-opts", part ? "--list-opts" : NULL, NULL };
	const char *ends = command ? "\n" : " \n";
	struct writer out;
	capture(line, &out, command, argv);
	for (char *at = out.buffer, *next; at && *at; at = next) {
		size_t length = strcspn(at, ends);
		next = at + length + (at[length] != '\0');
		at[length] = '\0';
		size_t name = strcspn(at, "\t");
		offer(line, at, name, at[name] ? at + name + 1 : "");
	}
	writer_fini(&out);
}

/* Events after the last comma or brace of a list of them. */
static void offer_events(const struct unfinished *line)
{
	const char *argv[] = { "--raw-dump", NULL };
	size_t before = strlen(line->current);
	while (before && !strchr(",{", line->current[before - 1]))
		before--;
	struct writer out;
	CLEANUP_STR struct str word = { 0 };
	capture(line, &out, "list", argv);
	for (char *at = strtok(out.buffer, " \n"); at; at = strtok(NULL, " \n")) {
		if (strstr(at, "..")) /* the form of a PMU's events */
			continue;
		str_clear(&word);
		str_add(&word, line->current, before);
		str_puts(&word, at);
		offer(line, str_text(&word), word.len, "event");
	}
	writer_fini(&out);
}

static bool is_part(const struct command *command, const char *word)
{
	for (const char *const *part = command->subcommands; part && *part; part++) {
		if (!strcmp(*part, word))
			return true;
	}
	return false;
}

static void offer_for_command(const struct unfinished *line, const struct command *command)
{
	const char *part = NULL, *first = NULL;
	for (size_t i = line->command + 1; i + 1 < line->count; i++) {
		if (!strcmp(line->words[i], "--"))
			return;
		if (!first && line->words[i][0] != '-')
			first = line->words[i];
	}
	part = first && is_part(command, first) ? first : NULL;
	const char *previous = line->words[line->count - 2];
	if (!strcmp(previous, "-e") || !strcmp(previous, "--event"))
		offer_events(line);
	else if (line->current[0] == '-')
		offer_options(line, command->name, part);
	else if (!strcmp(command->name, "help"))
		offer_commands(line);
	else if (!first)
		for (const char *const *word = command->subcommands; word && *word; word++)
			offer(line, *word, strlen(*word), "");
}

static int complete(struct cli *cli, size_t count, const char *const *words)
{
	static const char *const nothing[] = { "" };
	struct unfinished line = { .cli = cli, .words = count ? words : nothing, .count = count ? count : 1 };
	line.current = line.words[line.count - 1];
	while (line.command + 1 < line.count && line.words[line.command][0] == '-')
		line.command++;
	if (line.command + 1 < line.count) {
		const struct command *command = commands_find(line.words[line.command]);
		if (command)
			offer_for_command(&line, command);
	} else if (line.current[0] == '-') {
		offer_options(&line, NULL, NULL);
	} else {
		offer_commands(&line);
	}
	return 0;
}

extern const struct command command_completion;

static int completion_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct error err = { 0 };
	if (argc && !strcmp(argv[0], "words")) {
		bool marked = argc > 1 && !strcmp(argv[1], "--");
		return complete(cli, (size_t)(argc - 1 - marked), argv + 1 + marked);
	}
	for (const struct page *script = scripts; argc == 1 && script->name; script++) {
		if (!strcmp(script->name, argv[0])) {
			print_script(cli, script);
			return 0;
		}
	}
	if (argc)
		error_set(&err, ERROR_USAGE, "'%s' is not a shell whose completion perfuse has", argv[0]);
	return cli_usage(cli, &command_completion, argc ? &err : NULL);
}

const struct command command_completion = {
	.name = "completion",
	.summary = "print the completion script of a shell",
	.usage = completion_usage,
	.options = completion_table,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = completion_run,
	.subcommands = completion_words,
};
