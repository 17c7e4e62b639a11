#include <stdio.h>
#include <stdlib.h>

#include "analysis/count/stats.h"
#include "cmd/annotate/browse.h"
#include "cmd/annotate/options.h"
#include "cmd/annotate/types.h"
#include "cmd/browse_screen.h"
#include "cmd/loss_summary.h"
#include "data/evsel_name.h"
#include "os/cpus.h"
#include "render/annotate/browser_text.h"
#include "render/annotate/hottest_text.h"
#include "render/dump/dump.h"
#include "render/text/stats.h"

extern const struct command command_annotate;

/* One run. */
struct run {
	struct cli *cli;
	const struct annotate_options *options;
	struct input input;
	struct sample_filter filter;
	struct hit_sink *sink;
	struct hits hits;
	struct hit_groups groups;
	struct annotator *annotator;
	struct branch_counters counters;
	struct hit_count *whole;      /* by event: of the samples that percentages of the whole refer to */
	VEC(bool) warned;             /* by module: that its code is missing was said */
	size_t shown;
	bool browses, branches;       /* branches: the ends of recorded branches are counted, not samples */
	struct annotate_browse *browse; /* where browses */
};

static void run_close(struct run *run)
{
	annotator_free(run->annotator);
	hit_groups_fini(&run->groups);
	hits_fini(&run->hits);
	hit_sink_free(run->sink);
	sample_filter_fini(&run->filter);
	branch_counters_fini(&run->counters);
	free(run->whole);
	vec_fini(&run->warned);
	input_close(&run->input);
}

/* "anon group { cycles, instructions }", or the event's name. */
static void add_group_name(const struct run *run, const struct hit_group *group, const uint32_t *events, size_t count, struct str *out)
{
	enum { GROUP_NAME_MAX = 511 };
	const struct evlist *evlist = session_evlist(&run->input.session);
	const struct evsel *leader = &evlist->events.items[group->leader];
	char name[EVSEL_NAME_MAX];
	bool several = group->members.count > 1;
	if (several && group->named)
		str_printf(out, "%s { ", leader->group_name ? leader->group_name : "anon group");
	for (size_t i = 0; i < count; i++)
		str_printf(out, "%s%s", i ? ", " : "", evsel_name(&evlist->events.items[events[i]], name, sizeof name));
	if (several && group->named)
		str_puts(out, " }");
	if (several && out->len > GROUP_NAME_MAX) {
		out->len = GROUP_NAME_MAX;
		out->text[GROUP_NAME_MAX] = '\0';
	}
}

/* Reports once for each module why its code is not shown. */
static void warn_missing(struct run *run, const struct annotation *annotation)
{
	while (run->warned.count <= annotation->module->id)
		vec_push(&run->warned, false);
	bool *warned = &run->warned.items[annotation->module->id];
	if (*warned || run->options->skip_missing || run->options->quiet)
		return;
	*warned = true;
	writer_flush(run->cli->out, NULL);
	if (*annotation->missing.hint)
		cli_warn(run->cli, "Couldn't annotate %s: %s (%s)", annotation->name, annotation->missing.text, annotation->missing.hint);
	else
		cli_warn(run->cli, "Couldn't annotate %s: %s", annotation->name, annotation->missing.text);
}

static struct annotate_style style_of(const struct run *run)
{
	const struct annotate_options *options = run->options;
	return (struct annotate_style){ .percent = options->percent, .full_paths = options->full_paths, .print_lines = options->print_lines,
		.counts = options->input.verbose > 0, .raw = options->raw, .objdump = options->objdump && !options->stdio2, .symbols = run->input.symbols,
		.value = options->show_period ? ANNOTATE_PERIOD : options->show_samples ? ANNOTATE_SAMPLES : ANNOTATE_PERCENT,
		.colour = options->colour == COLOUR_ALWAYS || (options->colour == COLOUR_AUTO && run->cli->tty_out) };
}

/* The events of the group that are shown. */
static size_t shown_events(const struct run *run, const struct hit_group *group, uint32_t *events)
{
	size_t count = 0;
	for (size_t i = 0; i < group->members.count; i++) {
		uint32_t event = group->members.items[i];
		if (!run->options->skip_empty || run->hits.events[event].samples || group->members.count == 1)
			events[count++] = event;
	}
	return count;
}

static void sum_whole(struct run *run, const struct hit_group *group, const uint32_t *order, size_t count)
{
	for (size_t i = 0; i < group->members.count; i++) {
		uint32_t event = group->members.items[i];
		run->whole[event] = run->hits.events[event];
		/* as in perf, the symbol does not filter the ends of branches */
		for (size_t k = 0; run->options->symbol && !run->branches && k < count; k++) {
			const struct hit_count *totals = hits_totals(&run->hits, &run->hits.symbols.items[order[k]]);
			run->whole[event] = k ? run->whole[event] : (struct hit_count){ 0 };
			run->whole[event].samples += totals[event].samples;
			run->whole[event].period += totals[event].period;
		}
	}
}

static struct annotate_heading heading_of(const struct run *run, const struct annotate_view *view)
{
	const struct evlist *evlist = session_evlist(&run->input.session);
	struct annotate_heading heading = { .several = view->event_count > 1 };
	for (size_t i = 0; i < view->event_count; i++) {
		heading.samples += run->whole[view->events[i]].samples;
		heading.period += run->whole[view->events[i]].period;
	}
	heading.frequency = evlist->events.items[view->events[0]].attr.sample_period;
	return heading;
}

static void print_symbol(struct run *run, const struct hit_symbol *symbol, struct annotate_view *view)
{
	struct annotate_style style = style_of(run);
	struct annotation annotation;
	annotation_make(&annotation, run->annotator, &run->hits, symbol->module, symbol->symbol);
	view->annotation = &annotation;
	const struct annotate_heading heading = heading_of(run, view);
	if (run->options->hottest)
		hottest_text_print(&style, view, run->cli->out);
	else if (annotation.missing.kind != ERROR_NONE)
		warn_missing(run, &annotation);
	else if (run->options->stdio2)
		browser_text_print(&style, view, &heading, run->cli->out);
	else
		annotate_text_print(&style, view, run->cli->out);
	annotation_fini(&annotation);
	run->shown++;
}

static void print_group(struct run *run, const struct hit_group *group)
{
	struct str name CLEANUP_STR = { 0 };
	uint32_t *events = memory_zero(group->members.count, sizeof *events), *order;
	struct annotate_view view = { .events = events, .event_count = shown_events(run, group, events), .whole = run->whole };
	size_t count = hit_order_make(&run->hits, group, run->options->percent_limit, run->options->symbol != NULL,
		&run->input.session.model.modules, run->input.symbols, &order);
	add_group_name(run, group, events, view.event_count, &name);
	view.event_name = str_text(&name);
	view.counters = &run->counters;
	view.blocks = &run->hits.blocks;
	sum_whole(run, group, order, count);
	annotate_types_statistics(run->options, NULL, run->cli->out);
	if (run->options->hottest && count && view.event_count)
		hottest_head_print(run->cli->out);
	for (size_t i = 0; i < count && view.event_count; i++)
		print_symbol(run, &run->hits.symbols.items[order[i]], &view);
	free(order);
	free(events);
}

/* All annotations of a run as tables. */
struct tables {
	VEC(struct annotation) annotations;
	VEC(struct annotation_table *) views;
	VEC(struct table) tables;
	VEC(const char *) names;
	struct arena arena;
};

static void tables_add(struct run *run, struct tables *tables, const struct hit_group *group)
{
	uint32_t *order;
	size_t count = hit_order_make(&run->hits, group, run->options->percent_limit, run->options->symbol != NULL,
		&run->input.session.model.modules, run->input.symbols, &order);
	for (size_t i = 0; i < count; i++) {
		const struct hit_symbol *symbol = &run->hits.symbols.items[order[i]];
		struct annotation annotation;
		annotation_make(&annotation, run->annotator, &run->hits, symbol->module, symbol->symbol);
		vec_push(&tables->annotations, annotation);
	}
	free(order);
}

static void print_tables(struct run *run)
{
	struct tables tables = { 0 };
	const struct evlist *evlist = session_evlist(&run->input.session);
	struct hit_group all = { 0 };
	for (uint32_t i = 0; i < evlist->events.count; i++) {
		char name[EVSEL_NAME_MAX];
		vec_push(&all.members, i);
		const char *shown = evsel_name(&evlist->events.items[i], name, sizeof name);
		vec_push(&tables.names, arena_string(&tables.arena, shown, strlen(shown)));
	}
	tables_add(run, &tables, &all);
	for (size_t i = 0; i < tables.annotations.count; i++) {
		struct annotation_table *view = memory_zero(1, sizeof *view);
		annotation_table_init(view, &tables.annotations.items[i], tables.names.items);
		vec_push(&tables.views, view);
		vec_push(&tables.tables, view->table);
	}
	const struct table_fact facts[] = { { "unresolved", cell_count(run->hits.unresolved) } };
	struct results results = { .schema = "perfuse.annotate", .version = 1, .tables = tables.tables.items, .table_count = tables.tables.count,
		.facts = facts, .fact_count = 1 };
	run->options->format->print(&results, run->cli->out);
	for (size_t i = 0; i < tables.views.count; i++) {
		annotation_table_fini(tables.views.items[i]);
		free(tables.views.items[i]);
		annotation_fini(&tables.annotations.items[i]);
	}
	run->shown = tables.views.count;
	vec_fini(&tables.annotations);
	vec_fini(&tables.views);
	vec_fini(&tables.tables);
	vec_fini(&tables.names);
	vec_fini(&all.members);
	arena_fini(&tables.arena);
}

static bool has_samples(const struct run *run)
{
	for (size_t i = 0; i < run->hits.event_count; i++)
		if (run->hits.events[i].samples)
			return true;
	return false;
}

/* Nothing was shown: reports this, and the errors of the modules with the most samples. */
static void explain_nothing(struct run *run)
{
	enum { MODULES_MAX = 3 };
	struct hits *hits = &run->hits;
	uint64_t samples = 0;
	for (size_t i = 0; i < hits->event_count; i++)
		samples += hits->events[i].samples;
	if (run->options->symbol)
		cli_warn(run->cli, "no sample of the recording is in a function %s", run->options->symbol);
	else
		cli_warn(run->cli, "no code is shown: %llu of %llu samples are in no known function", (unsigned long long)hits->unresolved,
			(unsigned long long)samples);
	for (unsigned round = 0; !run->options->symbol && round < MODULES_MAX; round++) {
		uint32_t most = 0;
		struct error err = { 0 };
		for (uint32_t i = 1; i < hits->unresolved_in.count; i++)
			if (hits->unresolved_in.items[i] > hits->unresolved_in.items[most])
				most = i;
		if (!hits->unresolved_in.count || !hits->unresolved_in.items[most])
			return;
		if (annotator_check(run->annotator, most, &err) < 0)
			cli_warn(run->cli, "%llu samples: %s%s%s%s", (unsigned long long)hits->unresolved_in.items[most], err.text,
				*err.hint ? " (" : "", err.hint, *err.hint ? ")" : "");
		hits->unresolved_in.items[most] = 0;
	}
}

static void open_annotator(struct run *run)
{
	const struct annotate_options *options = run->options;
	struct annotator_options annotator = { .symbols = run->input.symbols, .modules = &run->input.session.model.modules,
		.header = &run->input.session.source->header, .kcore = run->input.kernel_files.kcore, .source = options->source,
		.inlined = options->inlined, .prefix = options->prefix };
	annotator.objdump = options->objdump && !options->stdio2 && !format_is_table(options->format);
	annotator.source |= annotator.objdump && (options->source || !options->source_given);
	annotator.syntax = options->style && strcmp(options->style, "intel") == 0 ? CODE_INTEL : CODE_ATT;
	annotator.places = options->print_lines || options->hottest || run->browses || format_is_table(options->format);
	annotator.inlined |= run->browses;
	annotator.source |= run->browses && !options->source_given;
	annotator.prefix_strip = options->prefix_strip ? (unsigned)strtoul(options->prefix_strip, NULL, 0) : 0;
	run->annotator = annotator_new(&annotator);
}

static void preview(void *context)
{
	struct run *run = context;
	struct hits hits;
	hit_sink_preview(run->sink, &run->input.session, run->input.symbols, &hits);
	annotate_browse_publish(run->browse, &hits);
	hits_fini(&hits);
}

static void prepare_screen(struct run *run)
{
	run->browse->input = &run->input;
	annotate_browse_source(run->browse);
	run->cli->screen->flames = true;
	browse_screen_previews(run->cli->screen, preview, run);
}

static void browse(struct run *run)
{
	struct error err = { 0 };
	run->browse->annotator = run->annotator;
	browse_screen_lend(run->cli->screen, &run->hits);
	annotate_browse_publish(run->browse, &run->hits);
	if (browse_screen_wait(run->cli->screen, &err) < 0)
		cli_complain(run->cli, &err);
}

/* --data-type */
static void print_types(struct run *run)
{
	const struct annotate_types types = { .cli = run->cli, .options = run->options, .input = &run->input, .hits = &run->hits,
		.style = style_of(run), .browses = run->browses };
	if (!has_samples(run))
		cli_warn(run->cli, "Error:\nThe %s data has no samples!", run->input.path);
	else if (!annotate_types_print(&types) && !run->options->quiet)
		cli_warn(run->cli, "no type is known of the memory that the recorded instructions access (--type-stat counts the reasons)");
}

static int annotate_recording(struct run *run)
{
	const struct annotate_options *options = run->options;
	struct sink sink = hit_sink_of(run->sink, &run->input.session);
	if (run->browses && !options->types)
		prepare_screen(run);
	input_run(&run->input, &sink);
	hit_sink_finish(run->sink, &run->input.session, run->input.symbols, &run->hits);
	run->whole = memory_zero(run->hits.event_count, sizeof *run->whole);
	if (options->types) {
		print_types(run);
		return input_end(&run->input, options->quiet, !options->quiet);
	}
	open_annotator(run);
	if (run->browses && (run->hits.hits.count || run->cli->screen->current.number)) {
		browse(run);
	} else if (format_is_table(options->format)) {
		print_tables(run);
	} else if (!has_samples(run)) {
		cli_warn(run->cli, "Error:\nThe %s data has no samples!", run->input.path);
	} else {
		hit_groups_make(&run->groups, session_evlist(&run->input.session), options->group, options->group_given && options->group);
		for (size_t i = 0; i < run->groups.groups.count; i++)
			print_group(run, &run->groups.groups.items[i]);
		if (!run->shown && !options->quiet)
			explain_nothing(run);
	}
	return input_end(&run->input, options->quiet, !options->quiet);
}

/* -D */
struct dumping {
	struct dump dump;
	struct stats stats;
};

static void dump_one(void *context, const struct resolved *r, size_t slice)
{
	struct dumping *dumping = context;
	dump_record(&dumping->dump, r);
	if (r->record->type == RECORD_SAMPLE)
		dump_sample_place(&dumping->dump, r);
}

static void dump_count(void *context, struct session *session, const struct record *record)
{
	struct dumping *dumping = context;
	stats_count(&dumping->stats, &session->source->header, record);
}

static int dump_recording(struct run *run)
{
	struct dumping dumping = { .stats.as_dump = true };
	struct session *session = &run->input.session;
	dump_warn(session->source, run->cli->out);
	dump_init(&dumping.dump, session, DUMP_REPORT, run->cli->out);
	struct sink sink = { .context = &dumping, .serial = true, .raw = dump_count, .record = dump_one, .want_records = true };
	sink.unordered = dumping.dump.unordered = dumping.dump.no_sample_id_all;
	session_run(session, &sink, NULL);
	stats_print(&dumping.stats, &session->source->header, run->options->skip_empty, run->cli->out);
	stats_fini(&dumping.stats);
	dump_fini(&dumping.dump);
	return input_end(&run->input, run->options->quiet, false);
}

static int open_filter(struct run *run, struct error *err)
{
	const struct filter_options *options = &run->options->filter;
	int32_t refused; /* no CPU that a list may hold is refused */
	if (filter_open_lists(&run->filter, options, err) < 0)
		return -1;
	if (!options->cpus)
		return 0;
	if (!filter_cpus_known(session_evlist(&run->input.session))) {
		error_set(err, ERROR_USAGE, "the samples of this recording have no CPU");
		return error_hint(err, "record with --sample-cpu or -a, or leave -C out");
	}
	return filter_open_cpus(&run->filter, options, CPUS_MAX, &refused, err) < 0 ? -1 : 0;
}

static int run_all(struct run *run)
{
	const struct annotate_options *options = run->options;
	struct error err = { 0 };
	struct input_use use = { .keep_exited = true, .no_jit = options->dump, .remarks = REMARKS_NONE,
		.itrace = options->dump ? NULL : &options->itrace };
	if (input_open(&run->input, run->cli, &options->input, &use, &err) < 0) {
		cli_complain(run->cli, &err);
		return EXIT_FAILED;
	}
	if (open_filter(run, &err) < 0) {
		cli_complain(run->cli, &err);
		return EXIT_FAILED;
	}
	if (options->dump)
		return dump_recording(run);
	input_name_events(&run->input);
	input_symbols(&run->input);
	run->branches = options->stdio2 && header_has(&run->input.session.source->header, FEATURE_BRANCH_STACK);
	branch_counters_init(&run->counters, &run->input.session.source->header);
	struct hit_options hit_options = { .filter = run->filter, .name = options->symbol,
		.whole = run->browses && run->cli->screen->current.flame, .branches = run->branches };
	run->sink = hit_sink_new(&hit_options, session_workers(&run->input.session));
	return annotate_recording(run);
}

static int annotate_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct annotate_options *options = filled;
	struct error err = { 0 };
	if (argc > 1)
		return cli_usage(cli, &command_annotate, NULL);
	if (argc)
		options->symbol = argv[0];
	if (options->prefix_strip && !options->prefix) {
		error_set(&err, ERROR_USAGE, "--prefix-strip requires --prefix");
		cli_complain(cli, &err);
		return EXIT_INVALID;
	}
	if (input_check(&options->input, &err) < 0) {
		cli_complain(cli, &err);
		return EXIT_INVALID;
	}
	if (options->format == &format_tui) {
		options->format = NULL;
		options->tui = true;
	}
	int browses = annotate_browses(cli, options, &err);
	if (browses < 0)
		return cli_complain(cli, &err);
	if (!browses)
		cli_pager(cli, &command_annotate);
	struct browse_screen screen = { 0 };
	struct annotate_browse browse = { .cli = cli, .options = options };
	struct run run = { .cli = cli, .options = options, .browses = browses, .browse = &browse }, again = run;
	cli->screen = browses ? &screen : NULL;
	int code = run_all(&run);
	run_close(&run);
	while (browse_screen_next(&screen)) {
		run = again;
		run_all(&run);
		run_close(&run);
	}
	cli->screen = NULL;
	return browse_screen_close(&screen, code);
}

const struct command command_annotate = {
	.name = "annotate",
	.summary = "show the code of hot functions, with the samples of each instruction",
	.usage = annotate_usage,
	.options = annotate_table,
	.options_size = sizeof(struct annotate_options),
	.defaults = annotate_defaults,
	.run = annotate_run,
};
