#include "cmd/commands.h"
#include "cmd/environment.h"
#include "cmd/page.h"

struct help_options {
	bool all, man;
};

static const struct option help_table[] = {
	OPT_BOOL('a', "all", struct help_options, all, "list the commands that are separate programs, too"),
	OPT_BOOL('m', "man", struct help_options, man, "show the manual page (the default)"),
	OPT_LATER('w', "web", "show the manual page in the web browser"),
	OPT_LATER('i', "info", "show the manual page in info"),
	OPT_END(),
};

static const char *const help_usage[] = { "perf help [--all] [--man|--web|--info] [command]", NULL };

static void list_commands(struct cli *cli)
{
	writer_printf(cli->out, "\n usage: %s " PROGRAM_USAGE "\n\n The commands are:\n", cli->program);
	for (size_t i = 0; i < commands_count(); i++)
		writer_printf(cli->out, "   %-15s %s\n", commands_at(i)->name, commands_at(i)->summary);
}

static void list_externals(struct cli *cli)
{
	CLEANUP_STR struct str path = { 0 };
	struct strtab words = { 0 };
	environment_exec_path(&path);
	environment_externals(&words);
	if (words.count)
		writer_printf(cli->out, "\n Separate programs, from %s and $PATH:\n", str_text(&path));
	for (uint32_t i = 0; i < words.count; i++)
		writer_printf(cli->out, "   %s\n", strtab_text(&words, i));
	strtab_fini(&words);
}

static int help_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct help_options *options = filled;
	if (argc)
		return page_show(cli, argv[0]);
	list_commands(cli);
	if (options->all)
		list_externals(cli);
	writer_printf(cli->out, "\n See '%s help COMMAND' for more information on a specific command.\n\n", cli->program);
	return 0;
}

const struct command command_help = {
	.name = "help",
	.summary = "show the commands, or the manual page of one",
	.usage = help_usage,
	.options = help_table,
	.options_size = sizeof(struct help_options),
	.run = help_run,
};
