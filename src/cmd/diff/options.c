#include "cmd/diff/options.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/column/columns.h"

const char *const diff_usage[] = { "perf diff [<options>] [old_file] [new_file]", NULL };

static const struct {
	const char *word;
	enum diff_method method;
	enum diff_compute compute;
} methods[] = {
	{ "delta", METHOD_TABLE, DIFF_DELTA }, { "ratio", METHOD_TABLE, DIFF_RATIO }, { "wdiff", METHOD_TABLE, DIFF_WEIGHTED },
	{ "delta-abs", METHOD_TABLE, DIFF_DELTA_ABS }, { "cycles", METHOD_CYCLES, DIFF_CYCLES },
};

static int find_method(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (strlen(methods[i].word) == len && memcmp(methods[i].word, word, len) == 0)
			return (int)i;
	return -1;
}

/* "1,2": neither may be 0. */
static int set_weights(struct diff_cli_options *options, const char *text, struct error *err)
{
	const char *comma = text ? strchr(text, ',') : NULL;
	if (comma && comma[1]) {
		options->old_weight = strtol(text, NULL, 10);
		options->new_weight = strtol(comma + 1, NULL, 10);
	}
	if (!comma || !options->old_weight || !options->new_weight)
		return error_set(err, ERROR_USAGE, "Failed: wrong weight data, use 'wdiff:w1,w2'");
	return 0;
}

static int set_compute(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct diff_cli_options *options = target;
	options->method = METHOD_TABLE;
	options->compute = DIFF_DELTA;
	if (unset)
		return 0;
	size_t len = strcspn(arg, ":");
	const char *more = arg[len] ? arg + len + 1 : NULL;
	int method = find_method(arg, len);
	if (method < 0)
		return error_set(err, ERROR_USAGE, "Failed: '%s' is not computation method (use 'delta','ratio' or 'wdiff')", arg);
	options->method = methods[method].method;
	options->compute = methods[method].compute;
	if (options->method == METHOD_TABLE && options->compute == DIFF_WEIGHTED)
		return set_weights(options, more, err);
	return more ? error_set(err, ERROR_USAGE, "Failed: extra option specified '%s'", more) : 0;
}

static int set_percentage(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct diff_cli_options *options = target;
	if (unset || (strcmp(arg, "relative") != 0 && strcmp(arg, "absolute") != 0))
		return error_set(err, ERROR_USAGE, "Invalid percentage: %s", arg ? arg : "");
	options->relative = strcmp(arg, "relative") == 0;
	return 0;
}

static int set_fail_above(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct diff_cli_options *options = target;
	char *end;
	options->fail_above = strtod(arg, &end);
	options->stats = options->fail_given = true;
	if (end == arg || (*end && strcmp(end, "%") != 0) || !(options->fail_above >= 0 && options->fail_above <= 100))
		return error_set(err, ERROR_USAGE, "--fail-above takes percentage points from 0 to 100, not '%s'", arg);
	return 0;
}

#define O struct diff_cli_options
const struct option diff_table[] = {
	OPT_INCR('v', "verbose", O, input.verbose, "print more: addresses, sources of symbols"),
	OPT_BOOL('q', "quiet", O, quiet, "rows only: no headings, no messages"),
	OPT_BOOL('b', "baseline-only", O, baseline_only, "only rows that the baseline has, too"),
	OPT_CALLBACK('c', "compute", O, compute, "delta,delta-abs,ratio,wdiff:w1,w2 (default delta-abs),cycles",
		"what is compared: shares (delta; delta-abs sorts by size), the ratio of periods, weighted periods, or cycles of code blocks",
		set_compute),
	OPT_BOOL('p', "period", O, show_period, "add columns: the periods"),
	OPT_BOOL('F', "formula", O, show_formula, "add a column: how the value was computed"),
	OPT_BOOL(0, "cycles-hist", O, cycles_hist, "with -c cycles: add a column: how a block's cycles are distributed"),
	OPT_BOOL('D', "dump-raw-trace", O, dump, "show every record of the recordings as bytes and as text"),
	OPT_BOOL('f', "force", O, input.force, "read recordings of another user, too"),
	OPT_STRING(0, "kallsyms", O, input.symbols.kallsyms, "file", "the kernel's symbols are in this kallsyms"),
	OPT_BOOL('m', "modules", O, modules, "load the symbols of kernel modules (with -k, on the machine that recorded)"),
	OPT_STRING('d', "dsos", O, filter.dsos, "dso[,dso...]", "only samples in these modules"),
	OPT_STRING('C', "comms", O, filter.comms, "comm[,comm...]", "only samples of these commands"),
	OPT_STRING('S', "symbols", O, filter.symbols, "symbol[,symbol...]", "only samples in these functions"),
	OPTION_ROW(STRING, 's', "sort", O, sort, "keys that distinguish rows (dso,symbol); +key adds to the default; keys:",
		.arg = "key[,key2...]", .words = columns_words),
	OPT_STRING('t', "field-separator", O, separator, "separator", "the text between columns; a . replaces it in names"),
	OPT_STRING(0, "symfs", O, input.symbols.symfs, "directory", "look for programs and libraries under this folder"),
	OPT_UINT('o', "order", O, order, "sort by the values of this file, counted from 0, the baseline (1)"),
	OPT_CALLBACK(0, "percentage", O, relative, "relative|absolute", "shares of the filtered samples, or of all (absolute)", set_percentage),
	OPT_FILTER_TIME(O, filter),
	OPT_STRING(0, "cpu", O, filter.cpus, "cpu", "only samples of these CPUs, as in 0-3,8"),
	OPT_STRING(0, "pid", O, filter.pids, "pid[,pid...]", "only samples of these processes"),
	OPT_STRING(0, "tid", O, filter.tids, "tid[,tid...]", "only samples of these threads"),
	OPT_BOOL(0, "stream", O, streams, "compare the hottest call chains of branch records"),
	OPTION_ROW(BOOL, 0, "stats", O, stats, "show which changes are more than noise, by time slices of the recordings", .flags = OPTION_OWN),
	OPTION_ROW_AT(CALLBACK, 0, "fail-above", OPTION_FIELD(O, fail_above, double),
		"as --stats, and exit with 2 if a share has changed by more than this", .arg = "points", .set = set_fail_above,
		.flags = OPTION_OWN | OPTION_NONEG),
	OPT_FORMAT(O, format),
	OPT_END(),
};
#undef O

void diff_defaults(void *target, const struct cli *cli)
{
	struct diff_cli_options *options = target;
	const char *compute = config_get(cli->config, "diff.compute");
	int method = compute ? find_method(compute, strlen(compute)) : -1;
	input_defaults(&options->input);
	options->order = (unsigned)config_double(cli->config, "diff.order", 1);
	options->compute = DIFF_DELTA_ABS;
	if (method >= 0 && methods[method].method == METHOD_TABLE)
		options->compute = methods[method].compute;
	else
		options->bad_config = compute;
}
