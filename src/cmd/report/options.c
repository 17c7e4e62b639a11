#include "cmd/report/options.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/column/columns.h"
#include "cmd/chain_option.h"

enum { MAX_STACK = 127 };

const char *const report_usage[] = { "perf report [<options>]", NULL };

static int set_itrace(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct report_options *options = target;
	return itrace_parse(&options->itrace, unset ? NULL : arg, false, err);
}

/* "graph,0.5,caller,function,percent" */
static int set_chain(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct report_options *options = target;
	struct chain_option chain = { .chain = options->chain, .given = !unset, .none = unset, .order_given = options->chain_order_given,
		.branch = options->chain_branch };
	int status = 0;
	if (unset)
		chain.chain.mode = CHAIN_NONE;
	else
		status = chain_option_parse(&chain, arg ? arg : "graph,0.5,caller,function,percent", err);
	options->chain = chain.chain;
	options->chain_given = chain.given;
	options->chain_none = chain.none;
	options->chain_order_given = chain.order_given;
	options->chain_branch = chain.branch;
	return status;
}

static int set_percent_limit(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct report_options *options = target;
	options->percent_limit = arg ? strtof(arg, NULL) : 0;
	options->chain.min_percent = options->percent_limit;
	return 0;
}

static int set_percentage(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct report_options *options = target;
	if (unset)
		return error_set(err, ERROR_USAGE, "--%s cannot be undone", option->long_name);
	return percentage_option_parse(arg, &options->relative, err);
}

static int set_ignore_callees(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct report_options *options = target;
	options->ignore_callees = unset ? NULL : arg;
	return unset ? 0 : callees_option_check(arg, err);
}

static int set_percent_type(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	static const char *const words[] = { "global-period", "local-period", "global-hits", "local-hits" };
	if (unset)
		return error_set(err, ERROR_USAGE, "--%s cannot be undone", option->long_name);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(arg, words[i]) == 0)
			return 0;
	return error_set(err, ERROR_USAGE, "--percent-type takes local or global and period or hits, such as local-period, not '%s'", arg);
}

static int set_branch_mode(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct report_options *options = target;
	options->branch_mode = !unset;
	return 0;
}

static int set_colour(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct report_options *options = target;
	return colour_option_parse(arg, unset, &options->colour, err);
}

static int set_time_quantum(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	static const struct { const char *unit; uint64_t ns; } units[] = {
		{ "", 1 }, { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	};
	struct report_options *options = target;
	char *end;
	if (unset)
		return error_set(err, ERROR_USAGE, "--%s cannot be undone", option->long_name);
	unsigned long value = strtoul(arg, &end, 0);
	if (end != arg && !value)
		return error_set(err, ERROR_USAGE, "time quantum cannot be 0");
	while (*end == ' ')
		end++;
	for (size_t i = 0; end != arg && i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].unit) == 0) {
			options->time_quantum_ns = value * units[i].ns;
			return 0;
		}
	return error_set(err, ERROR_USAGE, "Cannot parse time quantum `%s'", arg);
}

#define O struct report_options
const struct option report_table[] = {
	OPT_STRING('S', "symbols", O, filter.symbols, "symbol[,symbol...]", "only samples in these functions"),
	OPT_STRING(0, "symbol-filter", O, symbol_filter, "filter", "only functions whose name contains this"),
	INPUT_OPTIONS(O, input, "report", "directory", ": addresses, sources of symbols"),
	OPT_BOOL('q', "quiet", O, quiet, "rows only: no headings, no messages"),
	OPT_BOOL('D', "dump-raw-trace", O, dump, "show every record of the recording as bytes and as text"),
	OPT_BOOL(0, "stats", O, stats, "count the recording's records by type"),
	OPT_BOOL(0, "tasks", O, tasks, "show the recording's tasks as a tree"),
	OPT_BOOL(0, "mmaps", O, mmaps, "show the tasks and their mappings"),
	OPT_BOOL(0, "ignore-vmlinux", O, input.symbols.no_vmlinux, "use no vmlinux even where one is found"),
	OPT_BOOL('m', "modules", O, modules, "load the symbols of kernel modules (with -k, on the machine that recorded)"),
	OPT_BOOL('n', "show-nr-samples", O, show_samples, "add a column: how many samples"),
	OPT_BOOL('T', "threads", O, threads, "add a table: the counts of each thread (record -s)"),
	OPT_STRING(0, "pretty", O, pretty, "key", "how that table looks: normal or raw"),
	OPT_BOOL(0, "tui", O, tui, "browse on the terminal (the default there)"),
	OPT_BOOL(0, "gtk", O, gtk, "write a page for web browsers, perf.html, where perf opens a window"),
	OPT_BOOL(0, "stdio", O, stdio, "print"),
	OPT_BOOL(0, "header", O, header, "print the recording's header first"),
	OPT_BOOL(0, "header-only", O, header_only, "print the recording's header alone"),
	OPTION_ROW(STRING, 's', "sort", O, sort, "keys that distinguish rows; +key adds to the default; keys:", .arg = "key[,key2...]",
		.words = columns_words),
	OPTION_ROW(STRING, 'F', "fields", O, fields, "columns, in this order; +key adds to the default; keys:", .arg = "key[,keys...]",
		.words = columns_words),
	OPT_BOOL(0, "show-cpu-utilization", O, cpu_utilization, "add columns: shares of kernel and user code"),
	OPTION_ROW(BOOL, 0, "showcpuutilization", O, cpu_utilization, "as --show-cpu-utilization", .flags = OPTION_HIDDEN),
	OPT_STRING('p', "parent", O, parent, "regex", "callers that --sort parent looks for"),
	OPT_BOOL('x', "exclude-other", O, exclude_other, "only rows for which such a caller was found"),
	OPT_CALLBACK_FLAGS('g', "call-graph", O, chain, "print_type,threshold[,print_limit],order,sort_key[,branch],value",
		"how call chains are shown: graph, flat, fractal, folded or none; least share in percent; how many; caller or callee first; "
		"frames distinguished by function, address or srcline; percent, period or count (graph,0.5,caller,function,percent)",
		set_chain, OPTION_LASTARG),
	OPT_BOOL(0, "children", O, children, "count a function's callees for it, too (where there are chains)"),
	OPTION_ROW(INT, 0, "max-stack", O, max_stack, "the most frames of a chain (127)", .arg = "n",
		.was_set = OPTION_GIVEN(O, max_stack_given)),
	OPT_BOOL('G', "inverted", O, inverted, "chains from the caller down"),
	OPT_CALLBACK(0, "ignore-callees", O, ignore_callees, "regex", "callees of these functions count as part of them", set_ignore_callees),
	OPT_STRING('d', "dsos", O, filter.dsos, "dso[,dso...]", "only samples in these modules"),
	FILTER_THREAD_OPTIONS(O, filter),
	OPT_STRING('w', "column-widths", O, column_widths, "width[,width...]", "these widths, one per column; 0 is as needed"),
	OPT_STRING('t', "field-separator", O, separator, "separator", "the text between columns; a . replaces it in names"),
	OPT_BOOL('U', "hide-unresolved", O, hide_unresolved, "leave out rows without a symbol"),
	OPT_FILTER_CPU(O, filter),
	OPT_BOOL('I', "show-info", O, show_info, "with --header: print more"),
	OPT_BOOL(0, "source", O, source, "source lines in annotations (on)"),
	OPT_BOOL(0, "asm-raw", O, asm_raw, "raw instruction bytes in annotations"),
	OPT_STRING('M', "disassembler-style", O, disassembler_style, "disassembler style", "how annotations disassemble (intel)"),
	OPT_STRING(0, "prefix", O, prefix, "prefix", "put before paths of source files (with --prefix-strip)"),
	OPT_STRING(0, "prefix-strip", O, prefix_strip, "N", "components taken off paths of source files (with --prefix)"),
	OPT_BOOL(0, "show-total-period", O, show_period, "add a column: the sum of periods"),
	OPTION_ROW(BOOL, 0, "group", O, group, "show the events of a group side by side, as one group if the recording has none",
		.was_set = OPTION_GIVEN(O, group_given)),
	OPT_INT(0, "group-sort-idx", O, group_sort_index, "sort by this event of the group, counted from 0"),
	OPT_CALLBACK_FLAGS('b', "branch-stack", O, branch_mode, NULL, "a row for every branch that was recorded", set_branch_mode, OPTION_NOARG),
	OPT_BOOL(0, "branch-history", O, branch_history, "weave the branches of samples into their call chains"),
	OPT_STRING(0, "objdump", O, objdump, "path", "the objdump that annotations use"),
	OPT_STRING(0, "addr2line", O, addr2line, "path", "accepted; source lines need no such program here"),
	INPUT_NAME_OPTIONS(O, input),
	OPT_FORMAT(O, format),
	OPT_BOOL(0, "mem-mode", O, memory, "a row for every memory access that was recorded"),
	OPT_INT(0, "samples", O, saved_samples, "samples stored per row for browsing"),
	OPT_CALLBACK(0, "percent-limit", O, percent_limit, "percent", "leave rows and chains below this share out", set_percent_limit),
	OPT_CALLBACK(0, "percentage", O, relative, "relative|absolute", "shares of the filtered samples, or of all (absolute)", set_percentage),
	OPT_CALLBACK_FLAGS(0, "itrace", O, itrace, "opts", "how to sample a trace of instructions", set_itrace, OPTION_OPTARG),
	OPT_BOOL(0, "full-source-path", O, full_source_path, "whole paths of source files"),
	OPT_BOOL(0, "show-ref-call-graph", O, show_reference, "chains of another event of the group for events without"),
	OPT_BOOL(0, "stitch-lbr", O, stitch_lbr, "join the call stacks of branch records (--call-graph lbr) to those of samples before"),
	OPT_INT(0, "socket-filter", O, socket_filter, "only samples of this processor socket"),
	OPT_BOOL(0, "raw-trace", O, raw_trace, "tracepoints as plain fields"),
	OPT_BOOL('H', "hierarchy", O, hierarchy, "rows as a tree, a level for each key"),
	OPT_CALLBACK_FLAGS(0, "stdio-color", O, colour, "mode", "colours: always, never, or auto: on a terminal", set_colour, OPTION_LASTARG),
	OPT_FILTER_TIME(O, filter),
	OPTION_ROW(BOOL, 0, "inline", O, inline_names, "show inlined functions in all chains; without the option, in unwound ones",
		.was_set = OPTION_GIVEN(O, inline_given)),
	OPT_CALLBACK(0, "percent-type", O, percent_type, "local-period", "base of shares in annotations: local or global, period or hits",
		set_percent_type),
	OPT_BOOL(0, "ns", O, nanoseconds, "times in nanoseconds"),
	OPT_CALLBACK(0, "time-quantum", O, time_quantum_ns, "time (ms|us|ns|s)", "how coarse --sort time is (100ms)", set_time_quantum),
	OPT_STRING(0, "switch-on", O, switch_on, "event", "count samples only after this event"),
	OPT_STRING(0, "switch-off", O, switch_off, "event", "and no more after this one"),
	OPT_BOOL(0, "show-on-off-events", O, show_switch_events, "count these two events themselves, too"),
	OPT_BOOL(0, "total-cycles", O, total_cycles, "blocks of code by the cycles spent in them"),
	OPT_BOOL(0, "disable-order", O, disable_order, "-D: in the order of the file"),
	OPT_BOOL(0, "skip-empty", O, skip_empty, "leave events without samples out (on)"),
	OPT_END(),
};
#undef O

static void take_chain_word(struct report_options *options, const char *word)
{
	struct chain_option chain = { .chain = options->chain, .order_given = options->chain_order_given, .branch = options->chain_branch };
	chain_option_word(&chain, word, strlen(word));
	options->chain = chain.chain;
	options->chain_order_given = chain.order_given;
	options->chain_branch = chain.branch;
}

void report_defaults(void *target, const struct cli *cli)
{
	struct report_options *options = target;
	options->pretty = "normal";
	options->children = config_bool(cli->config, "report.children", true);
	options->group = config_bool(cli->config, "report.group", true);
	options->skip_empty = config_bool(cli->config, "report.skip-empty", true);
	options->default_sort = config_get(cli->config, "report.sort_order");
	options->percent_limit = config_double(cli->config, "report.percent-limit", 0);
	options->socket_filter = -1;
	options->branch_mode = -1;
	options->max_stack = MAX_STACK;
	input_defaults(&options->input);
	itrace_default(&options->itrace, false);
	options->inline_names = true;
	options->source = true;
	options->time_quantum_ns = 100000000;
	options->chain = (struct chain_options){ .mode = CHAIN_GRAPH, .order = CHAIN_CALLEE, .min_percent = 0.5 };
	if (config_get(cli->config, "report.percent-limit"))
		options->chain.min_percent = options->percent_limit;
	const char *const keys[] = { "print-type", "order", "sort-key", "threshold", "print-limit" };
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		char key[64] = "call-graph.";
		const char *value = config_get(cli->config, strcat(key, keys[i]));
		if (value && strcmp(keys[i], "threshold") == 0)
			options->chain.min_percent = strtod(value, NULL);
		else if (value && strcmp(keys[i], "print-limit") == 0)
			options->chain.print_limit = (uint32_t)strtod(value, NULL);
		else if (value)
			take_chain_word(options, value);
	}
}
