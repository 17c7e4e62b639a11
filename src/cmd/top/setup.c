/* From options to a running measurement and a profile of it. */
#include <errno.h>
#include <stdlib.h>

#include "cmd/environment.h"
#include "cmd/field_columns.h"
#include "cmd/sampling.h"
#include "cmd/servers.h"
#include "cmd/top/top.h"
#include "event/event_pfm.h"
#include "tracepoint/tracepoint.h"

/* top.call-graph, call-graph.record-mode: for -g without a mode. */
static int take_config(struct top *top)
{
	struct sampling *s = &top->options->sampling;
	const char *mode = config_get(top->cli->config, "top.call-graph");
	struct error err;
	mode = mode ? mode : config_get(top->cli->config, "call-graph.record-mode");
	bool plain = s->call_graph == CALL_GRAPH_FP && !top->options->call_graph_mode;
	if (mode && plain && call_graph_parse(mode, &s->call_graph, &s->stack_size, &s->max_stack, &err) < 0)
		return cli_complain(top->cli, &err), EXIT_FAILED;
	return 0;
}

/* The default target is the whole system. */
int top_setup_events(struct top *top)
{
	struct top_options *o = top->options;
	struct event_words words = { .cli = top->cli, .command = &command_top, .events = &top->events };
	const struct rate rate = { .freq_text = o->freq_text, .count_given = o->count_given, .count = o->count };
	int status = event_words_take(&words, o->words.items, o->words.count);
	event_words_fini(&words);
	if (status || (status = take_config(top)) || (status = rate_take(top->cli, &rate, &o->sampling)))
		return status;
	if (!o->target.pids && !o->target.tids && !o->target.uid && !o->target.cpus)
		o->target.all_cpus = true;
	if (o->branch_history && !o->sampling.branch)
		o->sampling.branch = BRANCH_ANY;
	if (o->branch_history && o->sampling.call_graph == CALL_GRAPH_NONE)
		o->sampling.call_graph = CALL_GRAPH_FP;
	o->sampling.cpu = true;
	o->sampling.period_bit = true;
	o->sampling.overwrite = false;
	return 0;
}

static bool uses_chains(const struct top *top)
{
	return top->options->sampling.call_graph != CALL_GRAPH_NONE && !top->options->chain.none;
}

static void open_symbols(struct top *top)
{
	struct cli *cli = top->cli;
	struct symbols_options options = top->options->symbols;
	options.buildid_dir = environment_cache(cli, false);
	options.same_machine = true;
	options.processes_until = INT64_MAX; /* the processes run */
	options.verbose = top->options->verbose;
	options.debuginfod = servers_named(cli);
	options.kernel_cache_dir = cli->user_cache_dir;
	options.budget = cli->budget;
	options.force = top->options->force;
	top->symbols = symbols_new(&top->live.session.model.modules, &options);
}

/* Returns whether all events are tracepoints. */
static bool open_tracepoints(struct top *top)
{
	const struct evlist *evlist = session_evlist(&top->live.session);
	bool all = true;
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		all &= evsel->attr.type == ATTR_TRACEPOINT || top->events.list.items[i].follower;
		if (evsel->attr.type != ATTR_TRACEPOINT)
			continue;
		if (!top->tracepoints && tracepoints_open_live(&top->tracepoints, NULL) < 0)
			return false;
		tracepoints_load(top->tracepoints, evsel->attr.config);
	}
	return all;
}

/* -w: one width per field, for as many fields as widths are given. */
static void set_widths(struct top *top)
{
	const char *text = top->options->column_widths;
	for (size_t i = 0; text && i < top->columns.fields.count; i++) {
		char *end;
		long width = strtol(text, &end, 10);
		top->columns.all.items[top->columns.fields.items[i]].user_width = width > 0 && width < 1 << 16 ? (unsigned)width : 0;
		text = *end == ',' ? end + 1 : NULL;
	}
}

static int setup_columns(struct top *top, struct error *err)
{
	const struct top_options *o = top->options;
	struct field_columns fields = { .evlist = session_evlist(&top->live.session), .tracepoints = top->tracepoints, .raw = o->raw_trace };
	bool tracepoints = open_tracepoints(top);
	fields.tracepoints = top->tracepoints;
	top->mode = o->sampling.branch && !o->branch_history && o->sampling.call_graph != CALL_GRAPH_LBR ? SORT_BRANCH : SORT_NORMAL;
	top->children = o->children && uses_chains(top) && top->mode == SORT_NORMAL && !o->hierarchy;
	struct column_request request = {
		.sort = o->sort, .fields = o->fields, .default_sort = o->default_sort, .children = top->children, .show_samples = o->show_samples,
		.show_period = o->show_period, .raw_trace = o->raw_trace, .mode = top->mode, .dynamic = field_columns_add, .context = &fields,
		.tracepoints = tracepoints,
	};
	int result = columns_setup(&top->columns, &request, err);
	if (result < 0 && request.invalid) { /* its row of the usage lists the keys */
		struct error why = *err;
		error_set(err, ERROR_OPTION, "Error:\n%s", why.text);
		error_hint(err, "%s", request.invalid);
	}
	if (result < 0)
		return -1;
	top->columns.needs_collapse |= o->hierarchy;
	set_widths(top);
	return 0;
}

static void fill_profile(struct top *top)
{
	const struct top_options *o = top->options;
	struct profile_options *out = &top->profile_options;
	out->columns = &top->columns;
	out->filter = top->filter;
	out->chain = o->chain.chain;
	if (o->inverted)
		out->chain.order = CHAIN_CALLER;
	out->iteration = top->mode == SORT_BRANCH ? ITERATE_BRANCHES : top->children ? ITERATE_CALLERS : ITERATE_SAMPLES;
	out->use_chains = uses_chains(top);
	out->branch_history = out->branch_marks = o->branch_history;
	if (o->branch_history)
		out->chain.key = CHAIN_ADDRESS;
	out->skip_idle = true;
	out->hierarchy = o->hierarchy;
	out->event_group = true;
	out->relative = o->relative;
	out->skip_empty = top->browses; /* the browser lists events: those of side-band have no samples */
	out->raw_trace = o->raw_trace;
	out->group_sort_index = o->group_sort_index;
	out->verbose = o->verbose;
	out->max_stack = o->max_stack > 0 ? (unsigned)o->max_stack : 0;
	out->time_quantum_ns = 100000000;
	out->min_percent = (float)o->percent_limit;
	out->socket_filter = -1;
	out->ignore_callees = top->ignore_compiled ? &top->ignore_callees : NULL;
	out->fixed_widths = o->column_widths;
	out->inlines = INLINE_UNWOUND;
	out->symbol_first = !o->fields && o->sort && strncmp(o->sort, "sym", 3) == 0;
}

int top_setup_profile(struct top *top, struct error *err)
{
	const struct top_options *o = top->options;
	struct profile_options *out = &top->profile_options;
	if (o->hierarchy && o->fields) {
		error_set(err, ERROR_OPTION, "Error: --hierarchy and --fields options cannot be used together");
		return error_hint(err, "fields");
	}
	open_symbols(top);
	event_switch_init(&out->switches, o->switch_on, o->switch_off, o->show_switch_events);
	if (setup_columns(top, err) < 0 || filter_open_lists(&top->filter, &o->filter, err) < 0 ||
	    event_switch_find(&out->switches, session_evlist(&top->live.session), err) < 0)
		return -1;
	if (o->ignore_callees)
		top->ignore_compiled = regcomp(&top->ignore_callees, o->ignore_callees, REG_EXTENDED) == 0;
	fill_profile(top);
	profile_open(&top->profile, out, &top->live.session, top->symbols);
	top->profile.tracepoints = top->tracepoints;
	top->profile_sink = profile_sink(&top->profile);
	return 0;
}
