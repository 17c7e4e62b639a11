#include <string.h>

#include "cmd/command.h"
#include "cmd/feature.h"

struct check_options {
	bool quiet;
};

static const struct option check_table[] = {
	OPT_BOOL('q', "quiet", struct check_options, quiet, "print nothing: the exit code is the answer"),
	OPT_END(),
};

static const char *const check_usage[] = { "perf check [<options>] {feature}", NULL };
static const char *const feature_usage[] = { "perf check feature <feature_list>", NULL };
static const char *const check_subcommands[] = { "feature", NULL };

extern const struct command command_check;

static const struct command feature_command = { .name = "check", .usage = feature_usage, .options = check_table };

/* Comma-separated names; empty ones do not count. Stops at an unknown name. */
static int check_features(struct cli *cli, const char *list, bool quiet)
{
	bool all = true;
	for (size_t length; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		if (!length)
			continue;
		const struct feature *feature = feature_find(list, length);
		if (!feature && !quiet)
			cli_warn(cli, "Unknown feature '%.*s', please use '%s version --build-options' to see which ones are available.",
				(int)length, list, cli->program);
		if (!feature)
			return EXIT_NO;
		if (!quiet)
			feature_write(feature, cli->out);
		all = all && feature->built_in;
	}
	return all ? 0 : EXIT_NO;
}

static int check_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct check_options *options = filled;
	struct error err = { 0 };
	if (!argc)
		return cli_usage(cli, &command_check, NULL);
	if (strcmp(argv[0], "feature") != 0) {
		error_set(&err, ERROR_USAGE, "Unknown subcommand: %s", argv[0]);
		return cli_usage(cli, &command_check, &err);
	}
	if (argc == 1)
		return cli_usage(cli, &feature_command, NULL);
	if (argc > 2) {
		cli_warn(cli, "Too many arguments passed to 'perf check feature'");
		return EXIT_FAILED;
	}
	return check_features(cli, argv[1], options->quiet);
}

const struct command command_check = {
	.name = "check",
	.summary = "show whether a feature is built in",
	.usage = check_usage,
	.options = check_table,
	.options_size = sizeof(struct check_options),
	.run = check_run,
	.subcommands = check_subcommands,
};
