/* `data`: a recording in other formats. */
#include <string.h>

#include "cmd/command.h"
#include "cmd/data_convert.h"
#include "cmd/export_run.h"

extern const struct command command_data;
static const struct command command_export;

struct data_options {
	struct export_request export;
	struct convert_request convert;
	bool itrace_given;
};

static int set_columns(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct data_options *options = target;
	options->export.schema.branches = !unset && strcmp(arg, "branches") == 0;
	if (unset || options->export.schema.branches || strcmp(arg, "all") == 0)
		return 0;
	return error_set(err, ERROR_USAGE, "--columns takes all or branches, not '%s'", arg);
}

static int set_itrace(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct data_options *options = target;
	options->itrace_given = !unset;
	return itrace_parse(&options->export.itrace, unset ? NULL : arg, true, err);
}

#define O struct data_options
static const struct option export_table[] = {
	OPT_CALLBACK(0, "columns", O, export.schema, "all|branches", "of samples: all (the default), or those of branches", set_columns),
	OPT_BOOL(0, "calls", O, export.schema.calls, "add the tables of calls, from the branches of a hardware trace, and of call paths"),
	OPT_BOOL(0, "callchains", O, export.schema.callchains, "add the table of call paths, from the call chains of samples"),
	OPT_CALLBACK_FLAGS(0, "itrace", O, export.itrace, "opts", "what to make of a hardware trace", set_itrace, OPTION_OPTARG),
	INPUT_OPTIONS(O, export.input, "export", "dir", ""),
	INPUT_NAME_OPTIONS(O, export.input),
	OPT_END(),
};
#undef O

static const char *const export_usage[] = {
	"perf data export sqlite [<options>] <file>", "perf data export postgresql [<options>] [<file>]", NULL
};

static int export_command(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct data_options *options = filled;
	struct schema *schema = &options->export.schema;
	struct error err = { 0 };
	bool sqlite = argc && strcmp(argv[0], "sqlite") == 0;
	if (argc && !sqlite && strcmp(argv[0], "postgresql") != 0)
		error_set(&err, ERROR_USAGE, "there is no database '%s'", argv[0]);
	else if (argc > 2)
		error_set(&err, ERROR_USAGE, "one file is written, not '%s', too", argv[2]);
	else if (sqlite && argc == 1)
		error_set(&err, ERROR_USAGE, "the database needs the name of a file");
	if (!argc || err.kind != ERROR_NONE)
		return cli_usage(cli, &command_export, argc ? &err : NULL);
	if (input_check(&options->export.input, &err) < 0)
		return cli_complain(cli, &err);
	if (schema->calls && !options->itrace_given && itrace_parse(&options->export.itrace, "bpwxe", true, &err) < 0)
		return cli_complain(cli, &err);
	schema->dialect = sqlite ? DIALECT_SQLITE : DIALECT_POSTGRESQL;
	options->export.path = argc == 2 ? argv[1] : NULL;
	return export_run(cli, &options->export);
}

static const struct command command_export = {
	.name = "export",
	.usage = export_usage,
	.options = export_table,
	.options_size = sizeof(struct data_options),
	.run = export_command,
};

#define CONVERT_OPTIONS                                                                                                            \
	OPT_STRING('i', "input", struct data_options, convert.input.path, "file", "the recording to convert (perf.data; - is stdin)"), \
	OPT_BOOL('f', "force", struct data_options, convert.input.force, "read a recording of another user, replace an existing file"), \
	OPT_INCR('v', "verbose", struct data_options, convert.input.verbose, "print more"),                                        \
	OPT_FILTER_TIME(struct data_options, convert.filter), \
	OPT_STRING(0, "to-json", struct data_options, convert.path, "file", "write JSON to this file"),                            \
	OPT_BOOL(0, "all", struct data_options, convert.all, "convert all records (not supported for JSON, as in perf)")

static const char *const convert_usage[] = { "perf data convert [<options>]", NULL };
static const struct option convert_table[] = { CONVERT_OPTIONS, OPT_END() };

static int convert_command(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	struct data_options *options = filled;
	return convert_run(cli, &options->convert);
}

static const struct command command_convert = {
	.name = "convert",
	.usage = convert_usage,
	.options = convert_table,
	.options_size = sizeof(struct data_options),
	.run = convert_command,
};

static const char *const data_usage[] = {
	"perf data convert [<options>]", "perf data export {sqlite|postgresql} [<options>] [<file>]", NULL
};
static const char *const data_words[] = { "convert", "export", NULL };
static const struct option data_table[] = { CONVERT_OPTIONS, OPT_END() };

static void data_defaults(void *filled, __attribute__((unused)) const struct cli *cli)
{
	struct data_options *options = filled;
	export_defaults(&options->export);
	input_defaults(&options->convert.input);
}

static int data_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct error err = { 0 };
	struct data_options *options = filled;
	options->export.input.path = options->convert.input.path; /* what precedes the word */
	options->export.input.force = options->convert.input.force;
	options->export.input.verbose = options->convert.input.verbose;
	if (argc && strcmp(argv[0], "export") == 0)
		return command_run_filled(cli, &command_export, filled, argc - 1, argv + 1);
	if (argc && strcmp(argv[0], "convert") == 0)
		return command_run_filled(cli, &command_convert, filled, argc - 1, argv + 1);
	if (argc)
		error_set(&err, ERROR_USAGE, "there is no '%s' of data", argv[0]);
	return cli_usage(cli, &command_data, argc ? &err : NULL);
}

const struct command command_data = {
	.name = "data",
	.summary = "write a recording as JSON or as a database",
	.usage = data_usage,
	.options = data_table,
	.options_size = sizeof(struct data_options),
	.defaults = data_defaults,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = data_run,
	.subcommands = data_words,
};
