/* From options to those of a profile: kind of rows, filters, chains. */
#include "cmd/report/setup.h"
#include "base/str.h"
#include "data/feature.h"

static uint64_t sample_types(const struct report *report)
{
	const struct evlist *evlist = session_evlist(&report->input.session);
	uint64_t types = 0;
	for (size_t i = 0; i < evlist->events.count; i++)
		types |= evlist->events.items[i].attr.sample_type;
	const struct itrace *itrace = &report->options->itrace;
	const struct header *header = &report->input.session.source->header;
	bool by_default = itrace->by_default && !header->pipe && header_has(header, FEATURE_AUXTRACE);
	if (by_default || (!itrace->by_default && (itrace->call_chain || itrace->add_call_chain)))
		types |= SAMPLE_CALLCHAIN; /* perf expects chains of every trace, also of BTS, which has none */
	return types;
}

/* Rows are samples, branches, or memory accesses. */
int report_choose_mode(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	const struct header *header = &report->input.session.source->header;
	bool recorded = header_has(header, FEATURE_BRANCH_STACK) || options->itrace.last_branch;
	bool branches = recorded && !(sample_types(report) & SAMPLE_STACK_USER);
	report->children = options->children;
	report->profile_options.branch_history = options->branch_history;
	report->profile_options.branch_marks = options->branch_history && branches;
	if (!options->branch_history && (options->branch_mode == 1 || (options->branch_mode == -1 && branches))) {
		report->mode = SORT_BRANCH;
		report->children = false;
	}
	if (options->memory) {
		if (report->mode == SORT_BRANCH)
			return error_set(err, ERROR_USAGE, "branch and mem mode incompatible");
		report->mode = SORT_MEMORY;
		report->children = false;
	}
	if (options->hierarchy)
		report->children = false;
	if (options->hierarchy && options->fields) {
		error_set(err, ERROR_OPTION, "Error: --hierarchy and --fields options cannot be used together");
		return error_hint(err, "fields");
	}
	return 0;
}

static int refuse_data(struct error *err, const char *text)
{
	CLEANUP_STR struct str lines = { 0 };
	str_printf(&lines, "Error:\n%s", text);
	return error_set(err, ERROR_USAGE, "%s", str_text(&lines));
}

/* -C requires CPUs that the recorded machine had, and samples with a CPU. */
static int open_cpus(struct report *report, struct error *err)
{
	const struct header *header = &report->input.session.source->header;
	if (!filter_cpus_known(&header->evlist))
		return error_set(err, ERROR_USAGE, "File does not contain CPU events. Remove -C option to proceed.");
	struct feature_cpus machine = { 0 };
	int32_t refused;
	feature_cpus(header, &machine);
	int result = filter_open_cpus(&report->filter, &report->options->filter, machine.available, &refused, err);
	if (result > 0)
		result = error_set(err, ERROR_USAGE, "Requested CPU %d too large. Consider raising MAX_NR_CPUS\nError:\n"
			"failed to set cpu bitmap", refused);
	return result;
}

/* The fields of the recording's samples decide about chains, children, and which options are refused. */
int report_setup_samples(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	struct profile_options *out = &report->profile_options;
	bool pipe = report->input.session.source->header.pipe;
	uint64_t types = sample_types(report);
	if (options->filter.cpus && open_cpus(report, err) < 0)
		return -1;
	bool wants_chains = (options->chain_given && !options->chain_none) || options->branch_history;
	out->use_chains = wants_chains;
	if (!pipe && !(types & SAMPLE_CALLCHAIN)) {
		if (report->columns.has_parent)
			return refuse_data(err, "Selected --sort parent, but no callchain data. Did you call 'perf record' without -g?");
		if (wants_chains && !out->branch_marks)
			return refuse_data(err, "Selected -g or --branch-history.\nBut no callchain or branch data.\n"
				"Did you call 'perf record' without -g or -b?");
	} else if (!wants_chains && options->chain.mode != CHAIN_NONE) {
		out->use_chains = true;
	}
	if (report->children && !(types & SAMPLE_CALLCHAIN)) {
		report->children = false;
		columns_cancel_children(&report->columns, options->fields);
	}
	if (report->mode == SORT_BRANCH && !pipe && !(types & SAMPLE_BRANCH_STACK))
		return refuse_data(err, "Selected -b but no branch data. Did you call perf record without -b?");
	if (report->mode == SORT_MEMORY && !pipe && !(types & SAMPLE_DATA_SRC))
		return refuse_data(err, "Selected --mem-mode but no mem data. Did you call perf record without -d?");
	return 0;
}

static int compile(regex_t *regex, bool *compiled, const char *text, const char *what, struct error *err)
{
	int code = regcomp(regex, text, REG_EXTENDED);
	char why[256];
	*compiled = code == 0;
	if (!code)
		return 0;
	regerror(code, regex, why, sizeof why);
	return error_set(err, ERROR_USAGE, "Invalid %s: %s\n%s", what, text, why);
}

static int open_patterns(struct report *report, struct error *err)
{
	static const char default_parent[] = "^sys_|^do_page_fault";
	const struct report_options *options = report->options;
	if (report->columns.has_parent) {
		if (compile(&report->parent, &report->parent_compiled, options->parent ? options->parent : default_parent, "regex", err) < 0)
			return -1;
		report->profile_options.parent = &report->parent;
	}
	if (options->ignore_callees) {
		if (compile(&report->ignore_callees, &report->ignore_compiled, options->ignore_callees, "--ignore-callees regex", err) < 0)
			return -1;
		report->profile_options.ignore_callees = &report->ignore_callees;
	}
	return 0;
}

int report_find_switches(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	struct event_switch *switches = &report->profile_options.switches;
	event_switch_init(switches, options->switch_on, options->switch_off, options->show_switch_events);
	return event_switch_find(switches, session_evlist(&report->input.session), err);
}

int report_open_filters(struct report *report, struct error *err)
{
	return filter_open_lists(&report->filter, &report->options->filter, err) < 0 || open_patterns(report, err) < 0 ? -1 : 0;
}

void report_fill_profile(struct report *report)
{
	const struct report_options *options = report->options;
	struct profile_options *out = &report->profile_options;
	out->columns = &report->columns;
	out->filter = report->filter;
	out->chain = options->chain;
	/* tables hold trees: a list of whole chains has the same content and is longer */
	if (format_is_table(options->format) && (out->chain.mode == CHAIN_FLAT || out->chain.mode == CHAIN_FOLDED))
		out->chain.mode = CHAIN_GRAPH;
	if (options->branch_history)
		out->chain.key = CHAIN_ADDRESS;
	if (options->inverted || (options->children && !options->chain_order_given))
		out->chain.order = CHAIN_CALLER;
	out->iteration = report->mode == SORT_BRANCH ? ITERATE_BRANCHES : options->memory ? ITERATE_MEMORY
		: report->children ? ITERATE_CALLERS : ITERATE_SAMPLES;
	out->hide_unresolved = options->hide_unresolved;
	out->exclude_other = options->exclude_other;
	out->hierarchy = options->hierarchy;
	out->event_group = options->group;
	out->force_group = options->group_given;
	out->relative = options->relative;
	out->nanoseconds = options->nanoseconds;
	out->skip_empty = options->skip_empty;
	out->raw_trace = options->raw_trace;
	out->group_sort_index = options->group_sort_index;
	out->verbose = options->input.verbose;
	out->max_stack = options->max_stack > 0 ? (unsigned)options->max_stack : 0;
	if (report->input.session.trace)
		out->max_stack = itrace_max_stack(&options->itrace, out->max_stack, options->max_stack_given);
	out->time_quantum_ns = options->time_quantum_ns;
	out->min_percent = (float)options->percent_limit;
	out->symbol_filter = options->symbol_filter;
	out->socket_filter = options->socket_filter;
	out->separator = options->separator;
	out->show_reference = options->show_reference;
	out->fixed_widths = options->column_widths;
	out->full_source_path = options->full_source_path;
	out->inlines = !options->inline_names ? INLINE_NONE : options->inline_given ? INLINE_ALL : INLINE_UNWOUND;
	out->symbol_first = !options->fields && report->sort && strncmp(report->sort, "sym", 3) == 0;
	if (options->hierarchy)
		report->columns.needs_collapse = true;
}

