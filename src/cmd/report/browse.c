#include "cmd/report/browse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/flame/flame_sink.h"
#include "analysis/profile/results.h"
#include "cmd/browse.h"
#include "cmd/browse_flame.h"
#include "cmd/browse_screen.h"
#include "cmd/report/browse_code.h"
#include "cmd/report/raw.h"
#include "cmd/report/read.h"
#include "cmd/report/tips.h"
#include "render/tui/terminal.h"

enum {
	PREVIEW_DETAILS = 50000,   /* rows of callers in a preview */
	DETAILS = 2000000,         /* and of the whole */
};

struct viewer {
	struct cli *cli;
	struct report_options *options;
	struct browse_screen *screen;
	struct report *report;     /* of the newest reading; the first one belongs to the caller */
	struct report *first;
	bool read_whole;           /* the first reading came to its end */
	char time[80];             /* --time of the current request */
	char *next;                /* another recording to show */
};

static bool is_outdated(void *context)
{
	const struct viewer *viewer = context;
	return browse_screen_outdated(viewer->screen);
}

static struct feed_shot *shot_of(struct report *report, const struct profile *profile, size_t details)
{
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	struct profile_results results;
	profile_results_init(&results, profile, report->input.session.counters.lost_samples);
	shot->tables = memory_zero(results.results.table_count + 1, sizeof *shot->tables);
	for (size_t i = 0; i < results.results.table_count; i++)
		shot->tables[shot->table_count++] = snapshot_new(&results.results.tables[i], details);
	profile_results_fini(&results);
	for (unsigned i = 0; i < session_workers(&report->input.session); i++)
		heat_merge(&shot->heat, &report->watch.heats[i]);
	return shot;
}

void report_watch_sample(struct report *report, const struct resolved *r, size_t slice)
{
	struct report_watch *watch = &report->watch;
	if (!watch->viewer || r->record->type != RECORD_SAMPLE)
		return;
	if (r->sample->time != UINT64_MAX && r->sample->time)
		heat_add(&watch->heats[worker_index(r->worker)], r->sample->time);
	code_view_add(watch->code, r);
	if (watch->flame)
		watch->flame_sink.record(watch->flame_sink.context, r, slice);
}

void report_watch_slice(struct report *report, const struct worker *worker, size_t slice)
{
	const struct report_watch *watch = &report->watch;
	if (watch->flame && watch->flame_sink.slice_end)
		watch->flame_sink.slice_end(watch->flame_sink.context, worker, slice);
}

void report_watch_begin(struct report *report, struct session *session, size_t slices)
{
	const struct report_watch *watch = &report->watch;
	if (watch->flame && watch->flame_sink.batch_begin)
		watch->flame_sink.batch_begin(watch->flame_sink.context, session, slices);
}

void report_watch_batch(struct report *report, struct session *session, size_t slices)
{
	struct report_watch *watch = &report->watch;
	if (watch->flame && watch->flame_sink.batch_end)
		watch->flame_sink.batch_end(watch->flame_sink.context, session, slices);
}

static void preview(void *context)
{
	struct viewer *viewer = context;
	struct profile preview;
	if (is_outdated(viewer))
		return;
	profile_preview(&viewer->report->profile, &preview);
	browse_screen_publish(viewer->screen, shot_of(viewer->report, &preview, PREVIEW_DETAILS));
	profile_close(&preview);
}

static void open_flame(struct report *report)
{
	struct viewer *viewer = report->watch.viewer;
	const struct flame_options options = {
		.symbols = report->input.symbols, .filter = report->filter, .event = viewer->screen->current.event,
		.inlines = report->options->inline_names,
	};
	if (!viewer->screen->current.flame)
		return;
	report->watch.flame = browse_flame_open(&options, session_workers(&report->input.session));
	report->watch.flame_sink = flame_sink_of(report->watch.flame);
}

/* Reads a report that is set up, and publishes it. */
static void read_report(struct viewer *viewer, struct report *report)
{
	report->watch.viewer = viewer;
	report->watch.heats = memory_zero(session_workers(&report->input.session), sizeof *report->watch.heats);
	report->input.stop = is_outdated;
	report->input.stop_context = viewer;
	report->watch.code = code_view_new(report);
	open_flame(report);
	report_run_session(report);
	profile_finish(&report->profile);
	code_view_finish(report->watch.code);
	if (!is_outdated(viewer)) {
		struct feed_shot *shot = shot_of(report, &report->profile, DETAILS);
		if (report->watch.flame)
			shot->flame = browse_flame_finish(report->watch.flame, &report->input.session, viewer->screen->current.event);
		if (!shot->table_count)
			shot->failure = memory_string("no sample passes the filters of the command line and of time, or the recording has none");
		viewer->read_whole |= report == viewer->first;
		browse_screen_lend(viewer->screen, report);
		browse_screen_publish(viewer->screen, shot);
	}
	flame_sink_free(report->watch.flame);
	report->watch.flame = NULL;
	free(report->watch.heats);
	report->watch.heats = NULL;
}

static void drop_report(struct viewer *viewer)
{
	if (!viewer->report || viewer->report == viewer->first)
		return;
	code_view_free(viewer->report->watch.code);
	report_close(viewer->report);
	free(viewer->report->options);
	free(viewer->report);
	viewer->report = NULL;
}

static void add_time(char *text, size_t size, uint64_t time_ns)
{
	snprintf(text, size, "%llu.%09llu", (unsigned long long)(time_ns / 1000000000), (unsigned long long)(time_ns % 1000000000));
}

/* Reads once more, from the start. */
static void read_again(struct viewer *viewer)
{
	char from[32], to[32];
	struct error err = { 0 };
	const struct browse_request *request = &viewer->screen->current;
	drop_report(viewer);
	struct report *report = viewer->report = memory_zero(1, sizeof *report);
	report->cli = viewer->cli;
	report->options = memory_zero(1, sizeof *report->options);
	*report->options = *viewer->options;
	report->browses = true;
	report->watch.viewer = viewer;
	if (request->start_ns || request->end_ns != UINT64_MAX) {
		add_time(from, sizeof from, request->start_ns);
		add_time(to, sizeof to, request->end_ns);
		snprintf(viewer->time, sizeof viewer->time, "%s,%s", from, to);
		report->options->filter.time = viewer->time;
	}
	if (report_open(report, &err) < 0 || report_prepare(report, &err) != REPORT_READY) {
		struct feed_shot *shot = memory_zero(1, sizeof *shot);
		shot->failure = memory_string(*err.text ? err.text : "the recording cannot be read again");
		browse_screen_publish(viewer->screen, shot);
		return;
	}
	read_report(viewer, report);
}

static void ask(void *context, uint64_t number, uint64_t start_ns, uint64_t end_ns, const char *flame_event)
{
	const struct viewer *viewer = context;
	browse_screen_ask(viewer->screen, number, start_ns, end_ns, flame_event);
}

/* The header, of a recording that is opened for it alone: the loader uses the other one. */
static void add_header(void *context, struct str *out)
{
	struct viewer *viewer = context;
	struct writer text;
	struct cli cli = *viewer->cli;
	struct error err = { 0 };
	struct session session = { 0 };
	const struct source_options options = { .force = viewer->options->input.force, .header_only = true };
	if (source_open(&session.source, viewer->first->input.path, &options, &err) < 0) {
		str_printf(out, "%s\n", err.text);
		return;
	}
	writer_open(&text, -1, 0);
	cli.out = &text;
	report_raw_header(&(struct report_raw){ .cli = &cli, .options = viewer->options, .session = &session });
	str_add(out, text.buffer ? text.buffer : "", text.len);
	writer_fini(&text);
	source_close(session.source);
}

static void add_messages(void *context, struct str *out)
{
	struct viewer *viewer = context;
	browse_messages_text(&viewer->screen->messages, out);
}

static int open_other(void *context, const char *path, struct error *err)
{
	struct viewer *viewer = context;
	struct source *source;
	if (source_open(&source, path, &(struct source_options){ .force = viewer->options->input.force, .header_only = true }, err) < 0)
		return -1;
	source_close(source);
	viewer->next = memory_string(path);
	return 0;
}

static struct snapshot *show_code(void *context, const struct snapshot *shot, uint32_t row, struct error *err)
{
	const struct viewer *viewer = context;
	const struct report *report = browse_screen_shown(viewer->screen);
	if (report)
		return code_view_show(report->watch.code, shot, row, err);
	error_set(err, ERROR_USAGE, "code is shown when the recording is read to its end");
	return NULL;
}

static int show_script(void *context, const char *comm, struct str *out, struct error *err)
{
	const struct viewer *viewer = context;
	return browse_script(viewer->first->input.path, comm, out, err);
}

int report_browses(const struct cli *cli, const struct report_options *options, struct error *err)
{
	bool text = options->header || options->header_only || options->threads || options->quiet || options->separator ||
		report_raw_wanted(options) || options->total_cycles || options->format ||
		options->chain.mode == CHAIN_FLAT || options->chain.mode == CHAIN_FOLDED;
	enum browse_choice choice = options->stdio || text ? BROWSE_NO : options->tui ? BROWSE_YES : BROWSE_AUTO;
	bool wanted = browse_wanted(cli, "report", choice, options->input.path, err);
	return wanted ? 1 : choice == BROWSE_YES ? -1 : 0;
}

static int open_screen(struct viewer *viewer, const char *tip, struct error *err)
{
	viewer->screen->source = (struct browse_source){
		.context = viewer, .tip = tip, .read = ask, .header = add_header, .messages = add_messages, .files = browse_files,
		.open = open_other, .script = show_script, .annotate = show_code,
	};
	viewer->screen->parts = false; /* read_again filters by --time, which reads less */
	browse_screen_previews(viewer->screen, preview, viewer);
	return browse_screen_open(viewer->screen, err);
}

int report_browse(struct report *report, char **next)
{
	struct viewer viewer = { .cli = report->cli, .options = report->options, .first = report, .report = report,
		.screen = report->cli->screen };
	CLEANUP_STR struct str tip = { 0 };
	struct error err = { 0 };
	cli_named(viewer.cli, &tip, report_tip());
	int result = open_screen(&viewer, str_text(&tip), &err);
	if (result == 0) {
		read_report(&viewer, report);
		while ((result = browse_screen_wait(viewer.screen, &err)) == 0 && browse_screen_next(viewer.screen))
			read_again(&viewer);
	}
	drop_report(&viewer);
	code_view_free(report->watch.code);
	*next = viewer.next;
	if (result < 0)
		return cli_complain(report->cli, &err);
	if (viewer.read_whole && !report_has_entries(report))
		cli_warn(report->cli, "Error:\nThe %s data has no samples!", report->input.path);
	return viewer.read_whole ? report_end(report) : 0;
}
