#include "cmd/report/raw.h"

#include "render/dump/dump.h"
#include "cmd/attr_names.h"
#include "render/text/header.h"
#include "render/text/stats.h"

/* One reading. */
struct reading {
	const struct report_raw *raw;
	struct attr_names names;
	struct dump dump;
	struct stats stats;
	struct tasks tasks;
	bool features; /* a stream's features are shown as they pass */
};

bool report_raw_is_plain(const struct report_options *options)
{
	return options->stats || options->tasks || options->mmaps;
}

bool report_raw_wanted(const struct report_options *options)
{
	return options->dump || report_raw_is_plain(options);
}

void report_raw_header(const struct report_raw *raw)
{
	struct source *source = raw->session->source;
	struct writer *out = raw->cli->out;
	struct attr_names names;
	struct record record;
	bool full = raw->options->show_info;
	attr_names_open(&names);
	header_print(source, full, &names, out);
	while (source->header.pipe && raw->options->header_only && source_next(source, &record, &raw->session->error) > 0) {
		header_print_feature(source, &record, full, &names, out);
		source_release(source, source_mark(source));
	}
	attr_names_close(&names);
}

static void count_record(void *context, struct session *session, const struct record *record)
{
	struct reading *reading = context;
	stats_count(&reading->stats, &session->source->header, record);
}

static void dump_one(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct reading *reading = context;
	const struct report_options *options = reading->raw->options;
	dump_record(&reading->dump, r);
	if (r->record->type == RECORD_SAMPLE && !time_filter_drops(reading->raw->time, r->sample->time))
		dump_sample_place(&reading->dump, r);
	if (reading->features)
		header_print_feature(r->session->source, r->record, options->show_info, &reading->names, reading->raw->cli->out);
}

static void follow_task(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct reading *reading = context;
	tasks_apply(&reading->tasks, r->record);
}

static struct sink sink_of(struct reading *reading)
{
	const struct report_options *options = reading->raw->options;
	struct sink sink = { .context = reading, .serial = true };
	if (options->stats) {
		sink.raw = count_record;
		sink.serial = false;
		sink.checks_only = true;
	} else if (options->tasks || options->mmaps) {
		sink.record = follow_task;
		sink.want_records = sink.skip_samples = true;
		tasks_init(&reading->tasks, options->mmaps);
	} else {
		sink.raw = count_record;
		sink.record = dump_one;
		sink.want_records = true;
		dump_init(&reading->dump, reading->raw->session, DUMP_REPORT, reading->raw->cli->out);
		sink.unordered = reading->dump.unordered = options->disable_order || reading->dump.no_sample_id_all;
	}
	return sink;
}

static void print_end(struct reading *reading)
{
	const struct report_raw *raw = reading->raw;
	if (raw->options->stats || !(raw->options->tasks || raw->options->mmaps)) {
		stats_print(&reading->stats, &raw->session->source->header, raw->options->skip_empty, raw->cli->out);
		return;
	}
	tasks_arrange(&reading->tasks);
	tasks_print(&reading->tasks, &raw->session->model, raw->cli->out);
}

void report_raw_run(const struct report_raw *raw)
{
	const struct report_options *options = raw->options;
	struct reading reading = { .raw = raw };
	reading.stats.as_dump = !options->stats;
	reading.stats.by_branch = !options->stats && raw->by_branch;
	reading.features = raw->session->source->header.pipe && (options->header || options->show_info);
	attr_names_open(&reading.names);
	struct sink sink = sink_of(&reading);
	session_run(raw->session, &sink, NULL);
	print_end(&reading);
	attr_names_close(&reading.names);
	stats_fini(&reading.stats);
	tasks_fini(&reading.tasks);
	dump_fini(&reading.dump);
}
