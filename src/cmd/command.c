#include "cmd/command.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/str.h"
#include "cmd/browse_screen.h"
#include "cmd/commands.h"
#include "cmd/format_option.h"

enum { USAGE_LINES_MAX = 16 };

/* One write a message, so that those of several processes do not mix. */
static void say(struct str *text)
{
	if (text->len && write(STDERR_FILENO, text->text, text->len) < 0)
		return;
}

/* Foreign text must not drive the terminal; the newlines and tabs of our own messages stay. */
static void add_printable(struct str *to, const char *text)
{
	CLEANUP_FREE char *copy = memory_string(text);
	char *piece = copy;
	for (size_t length; *piece; piece += length) {
		length = strcspn(piece, "\n\t");
		char end = piece[length];
		piece[length] = '\0';
		text_make_printable(piece);
		str_puts(to, piece);
		if (end) {
			str_putc(to, end);
			length++;
		}
	}
}

static bool is_followed_by_command(const char *text)
{
	char word[16] = "";
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz-");
	if (len < sizeof word)
		memcpy(word, text, len);
	return commands_find(word);
}

void cli_named(const struct cli *cli, struct str *to, const char *text)
{
	static const char perf[] = "perf ";
	const char *at = text;
	while (strcmp(cli->program, "perf") != 0 && text[0] != '[' && (at = strstr(at, perf))) {
		bool word = at == text || !(isalnum((unsigned char)at[-1]) || strchr("/-_.", at[-1]));
		at += sizeof perf - 1;
		if (!word || !is_followed_by_command(at))
			continue;
		str_add(to, text, (size_t)(at - text) - (sizeof perf - 1));
		str_puts(to, cli->program);
		text = at - 1;
	}
	str_puts(to, text);
}

static void add_message(const struct cli *cli, struct str *to, const char *text)
{
	CLEANUP_STR struct str named = { 0 };
	cli_named(cli, &named, text);
	add_printable(to, str_text(&named));
}

int cli_complain(const struct cli *cli, const struct error *err)
{
	CLEANUP_STR struct str text = { 0 };
	writer_flush(cli->out, NULL);
	add_message(cli, &text, err->text[0] ? err->text : "something failed");
	str_putc(&text, '\n');
	if (err->hint[0]) {
		add_message(cli, &text, err->hint);
		str_putc(&text, '\n');
	}
	say(&text);
	return EXIT_ERROR;
}

/* A format that is one text: a message that was composed before, with its line ends. */
static bool is_whole(const char *format)
{
	return !strcmp(format, "%s") || !strcmp(format, "%.*s");
}

void cli_warn(const struct cli *cli, const char *format, ...)
{
	CLEANUP_STR struct str line = { 0 };
	CLEANUP_STR struct str text = { 0 };
	va_list args;
	va_start(args, format);
	if (is_whole(format))
		str_vprintf(&line, format, args);
	else
		str_vprintf_line(&line, format, args);
	va_end(args);
	writer_flush(cli->out, NULL);
	add_message(cli, &text, str_text(&line));
	str_putc(&text, '\n');
	say(&text);
}

/* The usage lines are written for "perf"; they are printed with the name by which the program was called. */
static void write_help(const struct cli *cli, const struct command *command, const char *const *only, struct writer *out)
{
	static const char perf[] = "perf ";
	struct str lines[USAGE_LINES_MAX] = { 0 };
	const char *usage[USAGE_LINES_MAX + 1] = { 0 };
	for (size_t i = 0; i < USAGE_LINES_MAX && command->usage[i]; i++) {
		bool ours = !strncmp(command->usage[i], perf, sizeof perf - 1);
		str_printf(&lines[i], "%s%s", ours ? cli->program : "", command->usage[i] + (ours ? sizeof perf - 2 : 0));
		usage[i] = lines[i].text;
	}
	options_help(command->options, usage, only, out);
	for (size_t i = 0; i < USAGE_LINES_MAX; i++)
		str_fini(&lines[i]);
}

static void say_writer(struct writer *w)
{
	struct str text = { .text = w->buffer, .len = w->len };
	say(&text);
	writer_fini(w);
}

static void show_help(struct cli *cli, const struct command *command, const char *const *words)
{
	struct writer out;
	cli_pager(cli, command);
	writer_open(&out, -1, 0);
	writer_putc(&out, '\n');
	write_help(cli, command, words[0] ? words : NULL, &out);
	writer_putc(&out, '\n');
	say_writer(&out);
}

int cli_usage(const struct cli *cli, const struct command *command, const struct error *err)
{
	struct writer out;
	CLEANUP_STR struct str text = { 0 };
	static const char option_fault[] = " Error: "; /* no empty line between it and the usage */
	bool named = err && err->kind == ERROR_OPTION && err->hint[0];
	writer_flush(cli->out, NULL);
	writer_open(&out, -1, 0);
	if (err && err->text[0]) {
		add_message(cli, &text, err->text);
		str_putc(&text, '\n');
	}
	if (!named && err && err->hint[0]) {
		add_message(cli, &text, err->hint);
		str_putc(&text, '\n');
	}
	writer_puts(&out, str_text(&text));
	if (!err || strncmp(err->text, option_fault, sizeof option_fault - 1) != 0)
		writer_putc(&out, '\n');
	const char *only[] = { named ? err->hint : NULL, NULL };
	write_help(cli, command, named ? only : NULL, &out);
	if (!named)
		writer_putc(&out, '\n');
	say_writer(&out);
	return EXIT_USAGE;
}

static int list_subcommands(struct cli *cli, const struct command *command)
{
	for (const char *const *word = command->subcommands; word && *word; word++)
		writer_printf(cli->out, "%s ", *word);
	writer_putc(cli->out, '\n');
	return EXIT_LISTED;
}

/* --format=tui. Not inlined: copies of stacks (record --call-graph dwarf) have room for the frames of commands without the screen. */
static __attribute__((noinline)) int run_browsing(struct cli *cli, const struct command *command, void *options, int argc,
	const char **argv)
{
	struct browse_screen screen = { 0 };
	cli->use_pager = 0;
	cli->screen = cli->out->screen = &screen;
	int code = command->run(cli, options, argc, argv);
	while (browse_screen_next(&screen))
		command->run(cli, options, argc, argv);
	cli->screen = cli->out->screen = NULL;
	return browse_screen_close(&screen, code);
}

int command_run_filled(struct cli *cli, const struct command *command, void *options, int argc, const char **argv)
{
	struct error err = { 0 };
	int left = options_parse(command->options, options, argc, argv, command->options_mode, &err);
	if (left == OPTIONS_HELP) {
		show_help(cli, command, argv);
		return EXIT_USAGE;
	}
	if (left == OPTIONS_LIST) {
		(cli->describes ? options_describe : options_list)(command->options, cli->out);
		return EXIT_LISTED;
	}
	if (left == OPTIONS_LIST_COMMANDS)
		return list_subcommands(cli, command);
	if (left < 0)
		return cli_usage(cli, command, &err);
	if (format_browses(command->options, options))
		return run_browsing(cli, command, options, left, argv);
	if (command->pages)
		cli_pager(cli, command);
	return command->run(cli, options, left, argv);
}

int command_run(struct cli *cli, const struct command *command, int argc, const char **argv)
{
	CLEANUP_FREE void *options = memory_zero(1, command->options_size ? command->options_size : 1);
	if (command->defaults)
		command->defaults(options, cli);
	int code = command_run_filled(cli, command, options, argc, argv);
	if (command->release)
		command->release(options);
	return code;
}
