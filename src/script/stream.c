#include "script/stream.h"

#include <stdlib.h>

#include "render/dump/record_text.h"
#include "script/internal.h"

/* Whether output depends on earlier output. Yes if the events are not known yet, as in a stream. */
static bool is_serial(const struct stream_options *o, const struct session *session)
{
	const struct evlist *evlist = session_evlist(session);
	uint64_t shown = fields_shown(o->fields), types = session->source->header.pipe ? SAMPLE_READ : 0;

	for (size_t i = 0; i < evlist->events.count; i++)
		types |= evlist->events.items[i].attr.sample_type;
	if (header_has(&session->source->header, FEATURE_STAT) || types & SAMPLE_READ)
		return true;
	return o->time != STREAM_TIME || o->count_misordered || o->switch_on || o->switch_off || o->event_writer || o->dump ||
		shown & FIELD_BIT(FIELD_SRCCODE) || (!o->format && shown & FIELD_BIT(FIELD_DATA_SRC) && types & SAMPLE_DATA_SRC);
}

int stream_open(struct stream **out_stream, const struct stream_options *options, struct session *session,
	struct symbols *symbols, struct writer *out, struct error *err)
{
	struct stream *stream = memory_zero(1, sizeof *stream);

	stream->options = *options;
	if (stream->options.max_stack > STREAM_CHAIN_MAX)
		stream->options.max_stack = STREAM_CHAIN_MAX;
	stream->session = session;
	stream->symbols = symbols;
	stream->out = out;
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->turn, NULL);
	stream->on_event = stream->off_event = UINT32_MAX;
	stream->discarding = options->switch_on != NULL;
	stream->serial = is_serial(options, session);
	stream->worker_count = session_workers(session);
	stream->workers = memory_zero(stream->worker_count, sizeof *stream->workers);
	for (unsigned i = 0; i < stream->worker_count; i++)
		stream->workers[i] = memory_zero(1, sizeof **stream->workers);
	if (session_evlist(session)->events.count)
		stream_refresh(stream);
	if (stream->error.kind != ERROR_NONE) {
		if (err)
			*err = stream->error;
		stream_close(stream);
		return -1;
	}
	*out_stream = stream;
	return 0;
}

static void worker_close(struct stream_worker *worker)
{
	vec_fini(&worker->comms);
	arena_fini(&worker->arena);
	arena_fini(&worker->row);
	vec_fini(&worker->cells);
	writer_fini(&worker->printed);
	str_fini(&worker->scratch);
	free(worker);
}

void stream_close(struct stream *stream)
{
	if (!stream)
		return;
	for (unsigned i = 0; i < stream->worker_count; i++)
		worker_close(stream->workers[i]);
	stream_slices_fini(stream);
	stream_table_fini(stream);
	tracepoints_close(stream->tracepoints);
	sample_reads_fini(&stream->reads);
	stream_stat_fini(&stream->stat);
	stream_sources_fini(stream);
	arena_fini(&stream->arena);
	free(stream->workers);
	free(stream->plans);
	free(stream->event_writers);
	free(stream->counters.samples);
	free(stream);
}

const struct error *stream_error(const struct stream *stream)
{
	return stream->error.kind == ERROR_NONE ? NULL : &stream->error;
}

const struct stream_counters *stream_counters(const struct stream *stream)
{
	return &stream->counters;
}

static void print_steps(const struct stream_line *line, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		line->plan->steps[i].print(line, line->plan->steps[i].row);
}

static void print_sample(const struct stream_line *line)
{
	const struct stream_plan *plan = line->plan;

	print_steps(line, 0, plan->line_count);
	writer_putc(line->out, '\n');
	print_steps(line, plan->line_count, plan->step_count);
}

/* The thread that a record is about: from its body, not from its trailer. */
static int32_t record_tid(const struct resolved *r)
{
	struct cursor c = cursor_of(r->record->body, r->record->body_len, false);
	int32_t first = (int32_t)take_u32(&c), second = (int32_t)take_u32(&c), third = (int32_t)take_u32(&c);

	(void)first;
	switch (r->record->type) {
	case RECORD_COMM: case RECORD_MMAP: case RECORD_MMAP2: case RECORD_NAMESPACES:
		return second;
	case RECORD_FORK: case RECORD_EXIT:
		return third;
	default:
		return r->tid;
	}
}

static void add_record_row(const struct stream_line *line)
{
	struct writer text;

	writer_open(&text, -1, 256);
	record_text(line->r->record, line->r->sample->id, &text);
	writer_putc(&text, '\0');
	stream_table_row(line, text.buffer);
	writer_fini(&text);
}

/* A record that is not a sample: the start of a line with the fields of its event, then the record as text; or a row. */
static void print_record(struct stream_line *line)
{
	const struct resolved *r = line->r;
	const struct model *model = &line->stream->session->model;
	struct resolved own = *r;

	if (stream_drops_cpu(line->stream, r->sample->cpu))
		return;
	if (r->event < line->stream->plan_count) {
		/* a thread that exits has its name until then */
		uint64_t clock = r->clock - (r->record->type == RECORD_EXIT);
		own.tid = record_tid(r);
		own.comm = model_comm(model, model_thread(model, own.tid, clock), clock);
		line->r = &own;
		line->plan = &line->stream->plans[r->event];
	}
	if (line->stream->options.format) {
		add_record_row(line);
	} else {
		print_steps(line, 0, line->plan ? line->plan->start_count : 0);
		writer_puts(line->out, "PERF_RECORD_");
		writer_puts(line->out, record_type_name(r->record->type));
		if (!record_text(r->record, r->sample->id, line->out))
			writer_putc(line->out, '\n');
	}
	line->r = r;
}

static void process_sample(struct stream_line *line)
{
	struct stream *stream = line->stream;
	uint32_t event = line->r->event;

	if (event >= stream->plan_count || stream->error.kind != ERROR_NONE)
		return;
	line->plan = &stream->plans[event];
	if (stream_drops(line) || !line->plan->shown)
		return;
	if (stream->event_writers && stream->event_writers[event]) {
		line->out = stream->event_writers[event];
		stream->counters.samples[event]++;
	}
	if (stream->options.format)
		stream_table_row(line, NULL);
	else
		print_sample(line);
}

/* A sample with counter values is a sample of each event whose counter has changed. */
static void process_part(void *context, const struct sample_part *part)
{
	struct stream_line line = *(const struct stream_line *)context;
	struct resolved r = *line.r;
	struct sample sample = *r.sample;

	sample.id = part->id;
	sample.period = part->period;
	r.sample = &sample;
	r.event = part->event;
	r.evsel = &session_evlist(line.stream->session)->events.items[part->event];
	line.r = &r;
	process_sample(&line);
}

static void on_record(void *context, const struct resolved *r, size_t slice)
{
	struct stream *stream = context;
	uint32_t type = r->record->type;
	struct stream_worker *worker = stream->workers[worker_index(r->worker)];
	struct stream_line line = { .stream = stream, .worker = worker, .r = r, .decoded = r->evsel, .out = worker->out };

	if (!worker->out || worker->slice != slice)
		line.out = stream_slice_begin(stream, worker, slice);
	if (stream->options.dump) {
		stream->options.dump->out = line.out;
		dump_record(stream->options.dump, r);
	}
	if (type == RECORD_SAMPLE && stream->has_reads && r->event < stream->plan_count)
		sample_reads_each(&stream->reads, session_evlist(stream->session), r->event, r->sample, process_part, &line);
	else if (type == RECORD_SAMPLE)
		process_sample(&line);
	else if (type == RECORD_AUXTRACE_ERROR && stream->options.format)
		add_record_row(&line);
	else if (type == RECORD_AUXTRACE_ERROR && !stream->options.dump)
		record_text(r->record, 0, line.out);
	else if (stream->serial && !stream->options.format && type >= RECORD_THREAD_MAP && type <= RECORD_STAT_ROUND)
		stream_stat_add(&stream->stat, session_evlist(stream->session), r->record, line.out);
	else if (type < 64 ? stream->options.show_records >> type & 1 : type == RECORD_FINISHED_ROUND && stream->options.show_rounds)
		print_record(&line);
	if (worker->out->len - worker->held > STREAM_SPILL_BYTES)
		stream_slice_spill(stream, worker);
}

static void on_batch_begin(void *context, struct session *session, size_t slices)
{
	struct stream *stream = context;

	(void)session;
	stream_refresh(stream);
	if (stream->options.format && stream->plan_count && stream->error.kind == ERROR_NONE)
		stream_table_begin(stream);
	stream_slices_start(stream, slices);
}

static void on_slice_end(void *context, const struct worker *worker, size_t slice)
{
	struct stream *stream = context;

	stream_slice_end(stream, stream->workers[worker_index(worker)], slice);
}

struct sink stream_sink(struct stream *stream)
{
	return (struct sink){ .context = stream, .batch_begin = on_batch_begin, .record = on_record, .slice_end = on_slice_end,
		.want_records = true,
		.serial = stream->serial,
		.unordered = stream->options.show_rounds || (stream->options.dump && stream->options.dump->unordered) };
}
