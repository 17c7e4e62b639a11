#include "cmd/lock/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lock/lock_table.h"
#include "cmd/browse_screen.h"
#include "cmd/commands.h"

/* -D: the records, as `report -D` shows them. */
static void dump(struct cli *cli, const struct lock_options *options)
{
	const char *words[] = { "-D", "-i", options->input.path ? options->input.path : "perf.data", options->input.force ? "-f" : NULL, NULL };
	command_run(cli, commands_find("report"), options->input.force ? 4 : 3, words);
	writer_flush(cli->out, NULL);
}

static bool has_lock_event(const struct input *input, bool contention_only)
{
	const struct evlist *evlist = &input->session.source->header.evlist;
	const char *system, *name;
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct attr *attr = &evlist->events.items[i].attr;
		if (attr->type == ATTR_TRACEPOINT && tracepoints_name(input->tracepoints, attr->config, &system, &name) &&
		    strcmp(system, "lock") == 0 && (!contention_only || strcmp(name, "contention_begin") == 0))
			return true;
	}
	return false;
}

/* A pipe describes its events only while it is read. */
static int check_events(const struct input *input, bool contention_only, struct error *err)
{
	if (input->session.source->header.pipe)
		return 0;
	if (!input->tracepoints)
		return error_set(err, ERROR_USAGE, "No trace sample to read. Did you call 'perf lock record'?");
	if (contention_only && !has_lock_event(input, true))
		return error_set(err, ERROR_USAGE, "lock contention evsel not found");
	return 0;
}

/* A pipe has the formats of its events between its records. */
static void batch_begin(void *context, __attribute__((unused)) struct session *session, __attribute__((unused)) size_t slices)
{
	struct lock_reading *reading = context;
	input_tracepoints(&reading->input);
}

static void take_sample(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct lock_reading *reading = context;
	lock_sink_take(&reading->sink, r);
}

/* The table so far, in the browser. */
static void preview(void *context)
{
	struct lock_reading *reading = context;
	struct lock_order order = { 0 };
	lock_stats_order(&reading->sink.stats, reading->choice->key, false, &order);
	lock_name_threads(&reading->sink);
	lock_print_table(&order, reading->sink.options.group, !reading->sink.options.contention_only, reading->format, reading->input.cli->out);
	vec_fini(&order.list);
}

int lock_read(struct lock_reading *reading, struct cli *cli, struct lock_options *options, const struct lock_choice *choice,
	const struct lock_sink_options *use, int *code)
{
	struct error err = { 0 };
	struct lock_sink_options sink_options = *use;
	*reading = (struct lock_reading){ .choice = choice, .format = options->format };
	if (options->dump)
		dump(cli, options);
	options->input.symbols.aliases = true;
	if (input_open(&reading->input, cli, &options->input, &(struct input_use){ .keep_exited = true, .threads = 1 }, &err) < 0) {
		cli_complain(cli, &err);
		*code = EXIT_FAILED;
		return -1;
	}
	input_tracepoints(&reading->input);
	if (check_events(&reading->input, use->contention_only, &err) < 0) {
		cli_complain(cli, &err);
		*code = EXIT_INVALID;
		return -1;
	}
	input_symbols(&reading->input);
	sink_options.symbols = reading->input.symbols;
	sink_options.tracepoints = &reading->input.tracepoints;
	lock_sink_init(&reading->sink, &sink_options);
	const struct sink sink = { .context = reading, .record = take_sample, .batch_begin = batch_begin, .serial = true };
	browse_screen_previews(cli->screen, preview, reading);
	input_run(&reading->input, &sink);
	return 0;
}

int lock_reading_close(struct lock_reading *reading)
{
	int code = reading->input.symbols ? input_end(&reading->input, false, false) : 0;
	lock_sink_fini(&reading->sink);
	input_close(&reading->input);
	return code;
}

void lock_name_threads(struct lock_sink *sink)
{
	char text[16];
	for (size_t i = 0; sink->options.group == LOCK_GROUP_TASK && i < sink->stats.list.count; i++) {
		struct lock_stat *stat = sink->stats.list.items[i];
		const struct lock_thread *thread = lock_sink_thread(sink, (int32_t)stat->key);
		snprintf(text, sizeof text, ":%d", (int)stat->key);
		bool unknown = sink->options.contention_only && (int32_t)stat->key == -1; /* the sample of a thread that has ended */
		const char *name = unknown ? "Unknown" : thread && thread->comm ? thread->comm : text;
		stat->name = text_one_line(&sink->stats.arena, name, strlen(name));
	}
}

static void print(struct cli *cli, const struct lock_options *options, const struct lock_choice *choice, struct lock_sink *sink,
	struct writer *out)
{
	struct lock_order order = { 0 };
	lock_stats_order(&sink->stats, choice->key, options->combine, &order);
	lock_name_threads(sink);
	if (format_is_table(options->format)) {
		lock_print_table(&order, sink->options.group, true, options->format, cli->out);
	} else {
		const struct lock_view view = { .order = &order, .choice = choice, .group = sink->options.group, .quiet = options->quiet,
			.verbose = options->input.verbose, .entries = options->entries, .broken = sink->broken };
		lock_report_print(&view, out);
	}
	vec_fini(&order.list);
}

void lock_print_table(const struct lock_order *order, enum lock_group group, bool acquired, const struct format *format, struct writer *out)
{
	struct lock_table table;
	lock_table_init(&table, order, group, acquired);
	const struct results results = { .schema = "perfuse.lock", .version = 1, .tables = &table.table, .table_count = 1 };
	format->print(&results, out);
}

static int run(struct cli *cli, struct lock_options *options, bool info)
{
	struct lock_reading reading = { 0 };
	struct lock_output output;
	struct lock_choice choice;
	struct error err = { 0 };
	int code = 0;
	if (lock_choice_parse(&choice, options->fields, options->key ? options->key : "acquired", false, &err) < 0) {
		cli_complain(cli, &err);
		return EXIT_INVALID;
	}
	if (lock_output_open(&output, cli, options, &err) < 0)
		return cli_complain(cli, &err);
	const struct lock_sink_options use = { .group = options->threads && !info ? LOCK_GROUP_TASK : LOCK_GROUP_ADDRESS,
		.max_stack = (unsigned)options->max_stack, .stack_skip = (unsigned)options->stack_skip };
	if (lock_read(&reading, cli, options, &choice, &use, &code) == 0) {
		if (info)
			lock_info_print(&reading.sink, options->threads, options->info_map, output.to);
		else
			print(cli, options, &choice, &reading.sink, output.to);
		writer_flush(output.to, NULL);
	}
	int end = lock_reading_close(&reading);
	return lock_output_close(&output, cli, code ? code : end);
}

int lock_report_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return argc ? lock_usage_of(cli, "report") : run(cli, options, false);
}

int lock_info_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct lock_options *options = filled;
	if (argc)
		return lock_usage_of(cli, "info");
	if (!options->threads && !options->info_map)
		options->threads = options->info_map = true;
	return run(cli, options, true);
}
