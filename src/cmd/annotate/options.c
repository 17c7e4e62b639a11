#include "cmd/annotate/options.h"

#include <stdlib.h>
#include <string.h>

const char *const annotate_usage[] = { "perf annotate [<options>] [symbol]", NULL };

static int set_percent_type(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	static const struct { const char *word, *other; enum annotate_percent percent; } words[] = {
		{ "local-period", "period-local", ANNOTATE_LOCAL_PERIOD }, { "global-period", "period-global", ANNOTATE_GLOBAL_PERIOD },
		{ "local-hits", "hits-local", ANNOTATE_LOCAL_HITS }, { "global-hits", "hits-global", ANNOTATE_GLOBAL_HITS },
	};
	struct annotate_options *options = target;
	if (unset)
		return error_set(err, ERROR_USAGE, "--%s cannot be undone", option->long_name);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(arg, words[i].word) == 0 || strcmp(arg, words[i].other) == 0) {
			options->percent = words[i].percent;
			return 0;
		}
	return error_set(err, ERROR_USAGE, "--percent-type takes local or global and period or hits, such as local-period, not '%s'", arg);
}

static int set_percent_limit(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct annotate_options *options = target;
	options->percent_limit = arg && !unset ? strtof(arg, NULL) : 0;
	return 0;
}

static int set_colour(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct annotate_options *options = target;
	return colour_option_parse(arg, unset, &options->colour, err);
}

static int set_itrace(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct annotate_options *options = target;
	return itrace_parse(&options->itrace, unset ? NULL : arg, false, err);
}

static int set_data_type(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct annotate_options *options = target;
	options->types = !unset;
	options->type = unset ? NULL : arg;
	return 0;
}

#define O struct annotate_options
const struct option annotate_table[] = {
	OPT_STRING('d', "dsos", O, filter.dsos, "dso[,dso...]", "only samples in these modules"),
	OPT_STRING('s', "symbol", O, symbol, "symbol", "show only this function"),
	INPUT_OPTIONS(O, input, "annotate", "directory", ": the samples of each address"),
	OPT_BOOL('q', "quiet", O, quiet, "no messages"),
	OPT_BOOL('D', "dump-raw-trace", O, dump, "show every record of the recording as bytes and as text"),
	OPT_BOOL(0, "tui", O, tui, "browse on the terminal (the default there)"),
	OPT_BOOL(0, "stdio", O, stdio, "print"),
	OPT_BOOL(0, "stdio2", O, stdio2, "print as the browser shows it: arrows, targets, cycles of blocks"),
	OPTION_ROW(BOOL, 0, "hottest", O, hottest, "print only the hottest instruction of each function", .flags = OPTION_OWN),
	OPT_BOOL(0, "ignore-vmlinux", O, input.symbols.no_vmlinux, "use no vmlinux even where one is found"),
	OPT_BOOL('m', "modules", O, modules, "load the symbols of kernel modules (with -k, on the machine that recorded)"),
	OPT_BOOL('l', "print-line", O, print_lines, "show source lines: a summary first, and beside hot instructions"),
	OPT_BOOL('P', "full-paths", O, full_paths, "whole paths of modules and source files"),
	OPT_BOOL(0, "skip-missing", O, skip_missing, "leave out functions whose code is not found, without a message"),
	OPTION_ROW(BOOL, 0, "group", O, group, "show the events of a group side by side, as one group if the recording has none",
		.was_set = OPTION_GIVEN(O, group_given)),
	OPT_FILTER_CPU(O, filter),
	OPTION_ROW(BOOL, 0, "source", O, source, "source lines between instructions", .was_set = OPTION_GIVEN(O, source_given)),
	OPTION_ROW(BOOL, 0, "asm-raw", O, raw, "the bytes of instructions", .was_set = OPTION_GIVEN(O, raw_given)),
	OPTION_ROW(BOOL, 0, "inline", O, inlined, "mark code that was inlined from other functions", .flags = OPTION_OWN),
	OPT_STRING('M', "disassembler-style", O, style, "disassembler style", "spelling of x86 code: att (default) or intel"),
	OPT_STRING(0, "prefix", O, prefix, "prefix", "put before paths of source files (with --prefix-strip)"),
	OPT_STRING(0, "prefix-strip", O, prefix_strip, "N", "folders taken off paths of source files (with --prefix)"),
	OPT_STRING(0, "objdump", O, objdump, "path", "spell code as objdump does, with source lines; no program runs"),
	OPT_STRING(0, "addr2line", O, addr2line, "path", "accepted; source lines need no such program here"),
	INPUT_NAME_OPTIONS(O, input),
	OPT_FORMAT(O, format),
	OPTION_ROW(BOOL, 0, "show-total-period", O, show_period, "the sum of periods instead of percentages", .flags = OPTION_EXCLUSIVE),
	OPTION_ROW(BOOL, 'n', "show-nr-samples", O, show_samples, "the number of samples instead of percentages", .flags = OPTION_EXCLUSIVE),
	OPT_CALLBACK_FLAGS(0, "stdio-color", O, colour, "mode", "colours: always, never, or auto: on a terminal", set_colour, OPTION_LASTARG),
	OPT_CALLBACK(0, "percent-type", O, percent, "local-period", "base of percentages: local or global, period or hits", set_percent_type),
	OPT_CALLBACK(0, "percent-limit", O, percent_limit, "percent", "leave functions below this share out", set_percent_limit),
	OPT_CALLBACK_FLAGS(0, "itrace", O, itrace, "opts", "how to sample a trace of instructions", set_itrace, OPTION_OPTARG),
	OPT_CALLBACK_FLAGS(0, "data-type", O, type, "name", "the types of the memory that instructions access", set_data_type,
		OPTION_OPTARG),
	OPT_BOOL(0, "type-stat", O, type_statistics, "statistics of these types"),
	OPT_BOOL(0, "insn-stat", O, instruction_statistics, "statistics of these types by instruction"),
	OPT_BOOL(0, "skip-empty", O, skip_empty, "leave events without samples out of groups"),
	OPT_END(),
};
#undef O

void annotate_defaults(void *target, const struct cli *cli)
{
	struct annotate_options *options = target;
	input_defaults(&options->input);
	itrace_default(&options->itrace, false);
	options->group = true;
	options->percent = ANNOTATE_LOCAL_PERIOD;
	options->style = config_get(cli->config, "annotate.disassembler_style");
	options->show_samples = config_bool(cli->config, "annotate.show_nr_samples", false);
	options->show_period = config_bool(cli->config, "annotate.show_total_period", false);
	options->input.demangle = config_bool(cli->config, "annotate.demangle", options->input.demangle);
	options->input.symbols.demangle_kernel = config_bool(cli->config, "annotate.demangle_kernel", options->input.symbols.demangle_kernel);
}
