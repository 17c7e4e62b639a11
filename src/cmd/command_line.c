#include "cmd/command_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/commands.h"
#include "cmd/environment.h"
#include "cmd/memory_option.h"
#include "cmd/page.h"
#include "os/place.h"

static int usage_error(const struct cli *cli, const char *format, const char *what)
{
	char text[640];
	snprintf(text, sizeof text, format, what);
	cli_warn(cli, "%s\n\n Usage: %s " PROGRAM_USAGE, text, cli->program);
	return EXIT_USAGE;
}

/* The words before the subcommand. */
struct opening {
	struct cli *cli;
	const char **argv; /* the words that are not read yet */
	const char *word;  /* the subcommand that an option names: "version" for --version */
	int code;          /* >= 0: nothing is left to do, exit with it */
};

static void take_exec_path(struct opening *o, const char *value)
{
	if (value)
		setenv("PERF_EXEC_PATH", value, 1);
	else {
		CLEANUP_STR struct str path = { 0 };
		environment_exec_path(&path);
		writer_printf(o->cli->out, "%s\n", str_text(&path));
		o->code = 0;
	}
}

static void take_html_path(struct opening *o, const char *value)
{
	writer_printf(o->cli->out, "%s\n", PERFUSE_DOC_PATH);
	o->code = 0;
}

static void take_pager(struct opening *o, const char *value)
{
	o->cli->use_pager = 1;
}

static void take_no_pager(struct opening *o, const char *value)
{
	o->cli->use_pager = 0;
}

static void take_buildid_dir(struct opening *o, const char *value)
{
	o->cli->buildid_dir = value;
	setenv("PERF_BUILDID_DIR", value, 1);
}

static void take_memory(struct opening *o, const char *value)
{
	struct error err = { 0 };
	if (memory_option_check(value, &err) < 0)
		o->code = usage_error(o->cli, "%s", err.text);
	memory_option_use(o->cli, value);
}

static void take_debugfs_dir(struct opening *o, const char *value)
{
	setenv("PERF_DEBUGFS_DIR", value, 1);
}

static void take_debug(struct opening *o, const char *value)
{
	static const char *const known[] = { "verbose", "ordered-events", "stderr", "data-convert", "perf-event-open", "kmaps",
		"type-profile" };
	size_t length = strcspn(value, "=");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strlen(known[i]) != length || strncmp(known[i], value, length) != 0)
			continue;
		if (i == 0)
			o->cli->verbose = value[length] ? atoi(value + length + 1) : 1;
		return;
	}
	o->code = usage_error(o->cli, "Unknown option name '%s'", value);
}

static void take_debug_file(struct opening *o, const char *value)
{
	struct error err = { 0 };
	int fd = place_write(value, O_WRONLY, 0666, &err);
	if (fd < 0) {
		o->code = usage_error(o->cli, "--debug-file: %s", err.text);
		return;
	}
	dup2(fd, STDERR_FILENO);
	close(fd);
}

static void take_list_commands(struct opening *o, const char *value)
{
	for (size_t i = 0; i < commands_count(); i++)
		writer_printf(o->cli->out, "%s ", commands_at(i)->name);
	writer_putc(o->cli->out, '\n');
	o->code = 0;
}

static void take_list_options(struct opening *o, const char *value);

/* The options before the subcommand. `missing`: the option takes a value, and this is the complaint where it is absent. */
static const struct lead {
	const char *name, *also, *missing;
	void (*take)(struct opening *o, const char *value);
} leads[] = {
	{ "--help", "-h", NULL, NULL },
	{ "--version", "-v", NULL, NULL },
	{ "--exec-path", NULL, NULL, take_exec_path },
	{ "--html-path", NULL, NULL, take_html_path },
	{ "--paginate", "-p", NULL, take_pager },
	{ "--no-pager", NULL, NULL, take_no_pager },
	{ "--debugfs-dir", NULL, "No directory given for --debugfs-dir.", take_debugfs_dir },
	{ "--buildid-dir", NULL, "No directory given for --buildid-dir.", take_buildid_dir },
	{ "--memory", NULL, "No size given for --memory.", take_memory },
	{ "--list-cmds", NULL, NULL, take_list_commands },
	{ "--list-opts", NULL, NULL, take_list_options },
	{ "--debug", NULL, "No variable specified for --debug.", take_debug },
	{ "--debug-file", NULL, "No path given for --debug-file.", take_debug_file },
};

static void take_list_options(struct opening *o, const char *value)
{
	for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
		writer_printf(o->cli->out, "%s ", leads[i].name);
	writer_putc(o->cli->out, '\n');
	o->code = 0;
}

static const struct lead *find_lead(const char *word)
{
	size_t length = strcspn(word, "=");
	for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
		bool may_attach = leads[i].missing || leads[i].take == take_exec_path;
		if (!strcmp(word, leads[i].name) || (leads[i].also && !strcmp(word, leads[i].also)))
			return &leads[i];
		if (may_attach && word[length] && strlen(leads[i].name) == length && !strncmp(word, leads[i].name, length))
			return &leads[i];
	}
	return NULL;
}

/* Takes one word (and its value) from the front. */
static void take_lead(struct opening *o)
{
	const char *word = *o->argv++, *equals = strchr(word, '=');
	const struct lead *lead = find_lead(word);
	if (!lead && !strcmp(word, "-vv")) {
		o->word = word;
		return;
	}
	if (!lead) {
		o->code = usage_error(o->cli, "Unknown option: %s", word);
		return;
	}
	if (!lead->take) {
		o->word = lead->name + 2;
		return;
	}
	const char *value = equals ? equals + 1 : NULL;
	if (lead->missing && !value)
		value = *o->argv ? *o->argv++ : NULL;
	if (lead->missing && !value)
		o->code = usage_error(o->cli, "%s", lead->missing);
	else
		lead->take(o, value);
}

static int count_words(const char **argv)
{
	int n = 0;
	while (argv[n])
		n++;
	return n;
}

static void suggest(const struct cli *cli, const char *word)
{
	CLEANUP_STR struct str names = { 0 };
	size_t found = commands_nearest(word, &names);
	cli_warn(cli, "%s: '%s' is not a %s-command. See '%s --help'.", cli->program, word, cli->program, cli->program);
	if (found) {
		cli_warn(cli, "\nDid you mean %s?", found == 1 ? "this" : "one of these");
		cli_warn(cli, "%s", str_text(&names));
	}
}

static int run_word(struct cli *cli, const char *word, const char **argv)
{
	const struct command *command = commands_find(word);
	if (command && argv[0] && !strcmp(argv[0], "--help"))
		return page_show(cli, word, PAGE_MAN);
	if (command)
		return command_run(cli, command, count_words(argv), argv);
	environment_exec_external(word, argv);
	if (commands_awaited(word))
		cli_warn(cli, "%s: perf's command '%s' is not part of perfuse yet. See '%s --help'.", cli->program, word, cli->program);
	else
		suggest(cli, word);
	return EXIT_ERROR;
}

static int run_opening(struct opening *o)
{
	const char *no_words[] = { NULL };
	const char *build_options[] = { "--build-options", NULL };
	while (o->code < 0 && !o->word && *o->argv && (*o->argv)[0] == '-')
		take_lead(o);
	if (o->code >= 0)
		return o->code;
	if (o->word && !strcmp(o->word, "-vv"))
		return run_word(o->cli, "version", build_options);
	if (o->word)
		return run_word(o->cli, o->word, !strcmp(o->word, "help") ? o->argv : no_words);
	if (*o->argv)
		return run_word(o->cli, o->argv[0], o->argv + 1);
	run_word(o->cli, "help", no_words);
	return EXIT_ERROR;
}

int command_line_run(struct cli *cli, const char *subcommand, const char **argv)
{
	struct opening opening = { .cli = cli, .argv = argv, .code = -1 };
	return subcommand ? run_word(cli, subcommand, argv) : run_opening(&opening);
}

const char *program_name(const char *called, const char **subcommand)
{
	const char *slash = strrchr(called, '/'), *name = slash ? slash + 1 : called;
	*subcommand = NULL;
	if (!strncmp(name, "perf-", 5) && name[5])
		*subcommand = name + 5;
	else if (!strncmp(name, "perfuse-", 8) && name[8])
		*subcommand = name + 8;
	else if (!strcmp(name, "trace"))
		*subcommand = name;
	if (*subcommand && !commands_find(*subcommand) && !commands_awaited(*subcommand))
		*subcommand = NULL; /* a copy under another name, such as perfuse-old */
	return !strncmp(name, "perfuse", 7) || strncmp(name, "perf", 4) != 0 ? "perfuse" : "perf";
}
