#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/hist.h"
#include "analysis/name_filter.h"
#include "cmd/report_options.h"
#include "cmd/report_tips.h"
#include "data/evsel_name.h"
#include "os/cpus.h"
#include "render/header.h"
#include "render/report_text.h"

extern const struct command command_report;

enum { EXIT_OPEN = 255, EXIT_TIME = 234 };

/* One run. */
struct report {
	struct cli *cli;
	struct report_options *options;
	struct session session;
	struct symbols *symbols;
	struct tracepoints *tracepoints;
	struct columns columns;
	struct profile profile;
	struct profile_options profile_options;
	struct name_list *comms, *dsos, *symbol_names, *pids, *tids;
	struct time_filter time;
	uint64_t cpu_bits[CPUS_MAX / 64];
	regex_t parent, ignore_callees;
	bool parent_compiled, ignore_compiled;
	enum sort_mode mode;
	bool children;
};

static void report_close(struct report *report)
{
	profile_close(&report->profile);
	columns_fini(&report->columns);
	symbols_free(report->symbols);
	tracepoints_close(report->tracepoints);
	name_list_close(report->comms);
	name_list_close(report->dsos);
	name_list_close(report->symbol_names);
	name_list_close(report->pids);
	name_list_close(report->tids);
	time_filter_fini(&report->time);
	if (report->parent_compiled)
		regfree(&report->parent);
	if (report->ignore_compiled)
		regfree(&report->ignore_callees);
	if (report->session.source)
		session_close(&report->session);
}

static const char *input_of(const struct report_options *options)
{
	struct stat st;
	if (options->input && *options->input)
		return options->input;
	return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}

static uint64_t sample_types(const struct report *report)
{
	const struct evlist *evlist = session_evlist(&report->session);
	uint64_t types = 0;
	for (size_t i = 0; i < evlist->events.count; i++)
		types |= evlist->events.items[i].attr.sample_type;
	return types;
}

static bool all_tracepoints(const struct evlist *evlist)
{
	for (size_t i = 0; i < evlist->events.count; i++)
		if (evlist->events.items[i].attr.type != ATTR_TRACEPOINT)
			return false;
	return evlist->events.count;
}

/* Rows are samples, branches, or memory accesses. */
static int choose_mode(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	const struct header *header = &report->session.source->header;
	bool branches = header_has(header, FEATURE_BRANCH_STACK) && !(sample_types(report) & SAMPLE_STACK_USER);
	report->children = options->children;
	if (options->branch_mode == 1 || (options->branch_mode == -1 && branches)) {
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
	return 0;
}

/* A tracepoint's field as a column of this event. */
static void add_field_column(struct columns *columns, uint32_t event, const struct tracepoint_field *field, bool raw, int level)
{
	uint32_t index = columns_add_sort(columns, &column_type_field, level);
	struct column *column = &columns->all.items[index];
	column->header = tracepoint_field_name(field);
	column->event = event;
	column->field = field;
	column->raw = raw;
}

static void add_all_fields(struct report *report, struct columns *columns, uint32_t event, bool raw, int level)
{
	uint64_t id = session_evlist(&report->session)->events.items[event].attr.config;
	const struct tracepoint_field *field;
	for (unsigned i = 0; (field = tracepoints_field_at(report->tracepoints, id, i)); i++)
		add_field_column(columns, event, field, raw, level);
}

/* "%2", "sched:sched_switch", or a part of one event's name. */
static uint32_t find_event(const struct evlist *evlist, const char *name)
{
	char buffer[EVSEL_NAME_MAX];
	uint32_t found = UINT32_MAX;
	if (*name == '%') {
		unsigned long number = strtoul(name + 1, NULL, 0);
		return number <= evlist->events.count ? (uint32_t)(number ? number - 1 : 0) : UINT32_MAX;
	}
	for (uint32_t i = 0; i < evlist->events.count; i++) {
		const char *other = evsel_name(&evlist->events.items[i], buffer, sizeof buffer);
		if (strchr(name, ':') ? strcmp(other, name) == 0 : strstr(other, name) != NULL) {
			if (strchr(name, ':'))
				return i;
			if (found != UINT32_MAX)
				return UINT32_MAX;
			found = i;
		}
	}
	return found;
}

static int add_matching_fields(struct report *report, struct columns *columns, const char *name, bool raw, int level)
{
	const struct evlist *evlist = session_evlist(&report->session);
	int result = -1;
	for (uint32_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		if (evsel->attr.type != ATTR_TRACEPOINT)
			continue;
		const struct tracepoint_field *field = NULL;
		if (strcmp(name, "trace_fields") == 0)
			add_all_fields(report, columns, i, raw, level);
		else if ((field = tracepoints_field(report->tracepoints, evsel->attr.config, name)))
			add_field_column(columns, i, field, raw, level);
		if (field)
			result = 0;
	}
	return strcmp(name, "trace_fields") == 0 ? 0 : result;
}

/* "event.field/raw", "event.*", "field", "trace_fields". */
static int add_dynamic(void *context, struct columns *columns, const char *word, int level)
{
	struct report *report = context;
	const struct evlist *evlist = session_evlist(&report->session);
	if (!report->tracepoints)
		return -1;
	char *text = memory_string(word), *event = text, *field = strchr(text, '.');
	int result = -1;
	if (field)
		*field++ = '\0';
	else
		field = text;
	char *option = strchr(field, '/');
	bool raw = option || report->options->raw_trace;
	if (option)
		*option++ = '\0';
	if (option && strcmp(option, "raw") != 0) {
		free(text);
		return -1;
	}
	if (field == text || strcmp(field, "trace_fields") == 0) {
		result = add_matching_fields(report, columns, field, raw, level);
	} else {
		uint32_t index = find_event(evlist, event);
		const struct evsel *evsel = index == UINT32_MAX ? NULL : &evlist->events.items[index];
		const struct tracepoint_field *known = NULL;
		if (evsel && evsel->attr.type == ATTR_TRACEPOINT && strcmp(field, "*") == 0) {
			add_all_fields(report, columns, index, raw, level);
			result = 0;
		} else if (evsel && evsel->attr.type == ATTR_TRACEPOINT) {
			known = tracepoints_field(report->tracepoints, evsel->attr.config, field);
		}
		if (known) {
			add_field_column(columns, index, known, raw, level);
			result = 0;
		}
	}
	free(text);
	return result;
}

static int setup_columns(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	char *sort = options->sort ? memory_string(options->sort) : NULL;
	if (sort && strstr(sort, "symbol")) {
		sort = memory_resize(sort, strlen(sort) + 16, 1);
		strcat(sort, report->mode == SORT_BRANCH ? ",ipc_lbr" : ",ipc_null");
	}
	struct column_request request = {
		.sort = sort, .fields = options->fields, .default_sort = options->default_sort, .children = report->children,
		.show_samples = options->show_samples, .show_period = options->show_period, .show_cpu_utilization = options->cpu_utilization,
		.with_parent = options->parent, .raw_trace = options->raw_trace, .mode = report->mode, .dynamic = add_dynamic, .context = report,
	};
	if (all_tracepoints(session_evlist(&report->session)))
		request.mode = SORT_TRACEPOINT;
	int result = columns_setup(&report->columns, &request, err);
	free(sort);
	return result;
}

static int refuse_data(struct error *err, const char *text)
{
	return error_set(err, ERROR_USAGE, "Error:\n%s", text);
}

/* What the recording's samples carry decides about chains, children, and what cannot be. */
static int setup_samples(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	struct profile_options *out = &report->profile_options;
	bool pipe = report->session.source->header.pipe;
	uint64_t types = sample_types(report);
	bool wants_chains = options->chain_given && !options->chain_none;
	out->use_chains = wants_chains;
	if (!pipe && !(types & SAMPLE_CALLCHAIN)) {
		if (report->columns.has_parent)
			return refuse_data(err, "Selected --sort parent, but no callchain data. Did you call 'perf record' without -g?");
		if (wants_chains)
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

static int open_lists(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	struct profile_options *out = &report->profile_options;
	if ((options->comms && name_list_open(&report->comms, options->comms, err) < 0) ||
	    (options->dsos && name_list_open(&report->dsos, options->dsos, err) < 0) ||
	    (options->symbols && name_list_open(&report->symbol_names, options->symbols, err) < 0) ||
	    (options->pids && number_list_open(&report->pids, options->pids, err) < 0) ||
	    (options->tids && number_list_open(&report->tids, options->tids, err) < 0))
		return -1;
	if (report->symbol_names)
		name_list_split_addresses(report->symbol_names);
	out->comms = report->comms;
	out->dsos = report->dsos;
	out->symbols = report->symbol_names;
	out->pids = report->pids;
	out->tids = report->tids;
	out->dso_list_given = report->dsos;
	if (!options->cpus)
		return 0;
	struct cpus cpus = { 0 };
	int result = cpus_parse(&cpus, options->cpus, err);
	for (size_t i = 0; i < cpus.list.count; i++)
		if (cpus.list.items[i] >= 0 && cpus.list.items[i] < CPUS_MAX)
			report->cpu_bits[cpus.list.items[i] / 64] |= 1ull << (cpus.list.items[i] % 64);
	cpus_fini(&cpus);
	out->cpus = report->cpu_bits;
	out->cpu_count = CPUS_MAX / 64;
	return result;
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

/* "# dso: libc.so.6": a column of which only one value can be is not shown. */
static void elide_column(struct report *report, enum column_width width, const struct name_list *list, const char *name)
{
	const char *only = name_list_single(list);
	for (size_t i = 0; only && i < report->columns.fields.count; i++) {
		struct column *column = &report->columns.all.items[report->columns.fields.items[i]];
		if (column->type->class == COLUMN_MEASURE || column->type->width != width)
			continue;
		column->elided = true;
		writer_printf(report->cli->out, "# %s: %s\n", name, only);
	}
}

static void elide_columns(struct report *report)
{
	struct columns *columns = &report->columns;
	bool shown = false;
	for (size_t i = 0; i < columns->fields.count; i++) {
		enum column_width width = columns->all.items[columns->fields.items[i]].type->width;
		if (width == WIDTH_COMM)
			elide_column(report, width, report->comms, "comm");
		else if (width == WIDTH_DSO)
			elide_column(report, width, report->dsos, "dso");
		else if (width == WIDTH_SYMBOL)
			elide_column(report, width, report->symbol_names, "symbol");
	}
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = &columns->all.items[columns->fields.items[i]];
		shown |= column->type->class != COLUMN_MEASURE && column->type->class != COLUMN_FIELD && !column->elided;
	}
	for (size_t i = 0; !shown && i < columns->all.count; i++)
		columns->all.items[i].elided = false;
}

/* -w: one width per field, as far as they go. */
static void set_widths(struct report *report)
{
	const char *text = report->options->column_widths;
	struct columns *columns = &report->columns;
	for (size_t i = 0; text && i < columns->fields.count; i++) {
		char *end;
		long width = strtol(text, &end, 10);
		columns->all.items[columns->fields.items[i]].user_width = width > 0 && width < 1 << 16 ? (unsigned)width : 0;
		text = *end == ',' ? end + 1 : NULL;
	}
}

static void fill_profile_options(struct report *report)
{
	const struct report_options *options = report->options;
	struct profile_options *out = &report->profile_options;
	out->columns = &report->columns;
	out->chain = options->chain;
	if (options->inverted || (options->children && !options->chain_order_given))
		out->chain.order = CHAIN_CALLER;
	out->iteration = report->mode == SORT_BRANCH ? ITERATE_BRANCHES : report->mode == SORT_MEMORY ? ITERATE_MEMORY
		: report->children ? ITERATE_CALLERS : ITERATE_SAMPLES;
	out->hide_unresolved = options->hide_unresolved;
	out->exclude_other = options->exclude_other;
	out->hierarchy = options->hierarchy;
	out->event_group = options->group;
	out->force_group = options->group_given && options->group;
	out->relative = options->relative;
	out->nanoseconds = options->nanoseconds;
	out->skip_empty = options->skip_empty;
	out->raw_trace = options->raw_trace;
	out->group_sort_index = options->group_sort_index;
	out->verbose = options->verbose;
	out->max_stack = options->max_stack > 0 ? (unsigned)options->max_stack : 0;
	out->time_quantum_ns = options->time_quantum_ns;
	out->min_percent = (float)options->percent_limit;
	out->symbol_filter = options->symbol_filter;
	out->socket_filter = options->socket_filter;
	out->switch_on = options->switch_on;
	out->switch_off = options->switch_off;
	out->show_switch_events = options->show_switch_events;
	out->separator = options->separator;
	out->fixed_widths = options->column_widths;
	out->symbol_first = !options->fields && options->sort && strncmp(options->sort, "sym", 3) == 0;
	if (options->hierarchy)
		report->columns.needs_collapse = true;
}

static void open_tracepoints(struct report *report)
{
	const struct header *header = &report->session.source->header;
	struct span blob = header->feature_data[FEATURE_TRACING_DATA];
	if (!report->tracepoints && blob.data)
		tracepoints_open(&report->tracepoints, blob, NULL);
}

static int report_open(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	struct source *source;
	struct source_options source_options = { .force = options->force };
	if (source_open(&source, input_of(options), &source_options, err) < 0)
		return -1;
	struct session_options session_options = {
		.max_stack = options->max_stack > 0 ? (unsigned)options->max_stack : 1, .keep_exited = true,
	};
	return session_open(&report->session, source, &session_options, err);
}

static void open_symbols(struct report *report)
{
	const struct report_options *options = report->options;
	struct symbols_options symbols = {
		.symfs = options->symfs, .vmlinux = options->vmlinux, .kallsyms = options->kallsyms, .buildid_dir = report->cli->buildid_dir,
		.osrelease = header_string(&report->session.source->header, FEATURE_OSRELEASE), .no_demangle = !options->demangle,
		.demangle_kernel = options->demangle_kernel, .no_vmlinux = options->ignore_vmlinux, .verbose = options->verbose,
	};
	report->symbols = symbols_new(&report->session.model.modules, &symbols);
}

static void print_intro(struct report *report)
{
	const struct report_options *options = report->options;
	struct writer *out = report->cli->out;
	if (options->quiet)
		return;
	if (options->header || options->header_only)
		header_print(report->session.source, options->show_info, NULL, out);
	else if (!options->stats && !options->tasks)
		writer_puts(out, "# To display the perf.data header info, please use --header/--header-only options.\n#\n");
}

static bool use_colour(const struct report *report)
{
	if (report->options->colour == COLOUR_AUTO)
		return report->cli->tty_out;
	return report->options->colour == COLOUR_ALWAYS;
}

static void print_report(struct report *report)
{
	const struct report_options *options = report->options;
	struct report_text text = {
		.profile = &report->profile, .lost_samples = report->session.counters.lost_samples, .time_slices = options->time,
		.quiet = options->quiet, .colour = use_colour(report), .show_reference = options->show_reference, .tip = report_tip(),
	};
	if (report->mode == SORT_MEMORY)
		text.memory_order = options->sort ? options->sort
			: "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,local_p_stage_cyc";
	report_text_print(&text, report->cli->out);
	if (report->mode == SORT_BRANCH)
		branch_text_print(&report->profile.branches, report->cli->out);
}

static bool has_entries(const struct profile *profile)
{
	for (size_t i = 0; i < profile->hist_count; i++)
		if (profile->hists[i].count)
			return true;
	return false;
}

static int read_and_print(struct report *report)
{
	struct cli *cli = report->cli;
	struct error err = { 0 };
	report->profile.tracepoints = report->tracepoints;
	struct sink sink = profile_sink(&report->profile);
	if (session_run(&report->session, &sink, &err) < 0) {
		cli_complain(cli, &err);
		return 0;
	}
	if (profile_finish(&report->profile, &err) < 0) {
		cli_complain(cli, &err);
		return 0;
	}
	if (!has_entries(&report->profile)) {
		cli_warn(cli, "Error:\nThe %s data has no samples!", input_of(report->options));
		return 0;
	}
	print_report(report);
	return 0;
}

static int setup_and_run(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	if (choose_mode(report, err) < 0)
		return cli_complain(report->cli, err), 0;
	open_tracepoints(report);
	if (setup_columns(report, err) < 0)
		return cli_complain(report->cli, err), 0;
	print_intro(report);
	if (options->header_only)
		return 0;
	open_symbols(report);
	if (options->time) {
		uint64_t first, last;
		time_filter_bounds(&report->session.source->header, &first, &last);
		if (time_filter_parse(&report->time, options->time, first, last, false, err) < 0)
			return cli_complain(report->cli, err), EXIT_TIME;
		report->profile_options.time = &report->time;
	}
	if (open_lists(report, err) < 0 || open_patterns(report, err) < 0)
		return cli_complain(report->cli, err), 0;
	elide_columns(report);
	if (setup_samples(report, err) < 0)
		return cli_complain(report->cli, err), 0;
	set_widths(report);
	fill_profile_options(report);
	if (profile_open(&report->profile, &report->profile_options, &report->session, report->symbols, err) < 0)
		return cli_complain(report->cli, err), 0;
	return read_and_print(report);
}

static int report_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	struct report_options *options = arg;
	struct error err = { 0 };
	if (argc > 1)
		return cli_usage(cli, &command_report, NULL);
	if (argc == 1)
		options->symbol_filter = argv[0];
	struct report *report = memory_zero(1, sizeof *report);
	report->cli = cli;
	report->options = options;
	int code;
	if (report_open(report, &err) < 0) {
		cli_complain(cli, &err);
		code = EXIT_OPEN;
	} else {
		code = setup_and_run(report, &err);
	}
	report_close(report);
	free(report);
	return code;
}

const struct command command_report = {
	.name = "report",
	.summary = "show where a recording's samples lie",
	.usage = report_usage,
	.options = report_table,
	.options_size = sizeof(struct report_options),
	.defaults = report_defaults,
	.run = report_run,
	.pages = true,
};
