#include <string.h>

#include "cmd/command.h"
#include "cmd/feature.h"

struct version_options {
	bool build_options;
};

static const struct option version_table[] = {
	OPT_BOOL(0, "build-options", struct version_options, build_options, "list the built-in features"),
	OPT_END(),
};

static const char *const version_usage[] = { "perf version [<options>]", NULL };

static int version_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct version_options *options = filled;
	/* Programs that call perf expect a version of perf. */
	if (!strcmp(cli->program, "perf"))
		writer_puts(cli->out, "perf version 6.12.0 (perfuse " PERFUSE_VERSION ")\n");
	else
		writer_puts(cli->out, "perfuse version " PERFUSE_VERSION "\n");
	for (const struct feature *feature = features; options->build_options && feature->name; feature++)
		feature_write(feature, cli->out);
	return 0;
}

const struct command command_version = {
	.name = "version",
	.summary = "print the version and the built-in features",
	.usage = version_usage,
	.options = version_table,
	.options_size = sizeof(struct version_options),
	.run = version_run,
};
