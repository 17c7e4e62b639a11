#include <string.h>

#include "cmd/commands.h"
#include "cmd/environment.h"
#include "cmd/page.h"

struct help_options {
	bool all, man, web, info;
};

static const struct option help_table[] = {
	OPT_BOOL('a', "all", struct help_options, all, "list the commands that are separate programs, too"),
	OPT_BOOL('m', "man", struct help_options, man, "show the manual page (the default)"),
	OPT_BOOL('w', "web", struct help_options, web, "show the manual page in the web browser"),
	OPT_BOOL('i', "info", struct help_options, info, "show the manual page in info"),
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

/* Of the options the last in this order; without one, help.format of the configuration. */
static enum page_form form_of(const struct cli *cli, const struct help_options *options)
{
	const char *format = config_get(cli->config, "help.format");
	bool any = options->man || options->web || options->info;
	if (options->info || (!any && format && !strcmp(format, "info")))
		return PAGE_INFO;
	if (options->web || (!any && format && (!strcmp(format, "web") || !strcmp(format, "html"))))
		return PAGE_WEB;
	if (!any && format && strcmp(format, "man") != 0)
		cli_warn(cli, "unrecognized help format '%s'", format);
	return PAGE_MAN;
}

static int help_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct help_options *options = filled;
	if (argc)
		return page_show(cli, argv[0], form_of(cli, options));
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
