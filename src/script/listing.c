#include "script/listing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "render/dump/record_text.h"
#include "code/disassemble.h"
#include "script/internal.h"

/* Whether output depends on earlier output, in more than the width of the field callindent. Yes if the events are not known yet, as in a
 * stream. */
static bool varies(const struct listing_options *o, const struct session *session)
{
	const struct evlist *evlist = session_evlist(session);
	uint64_t shown = fields_shown(o->fields), types = session->source->header.pipe ? SAMPLE_READ : 0;

	for (size_t i = 0; i < evlist->events.count; i++)
		types |= evlist->events.items[i].attr.sample_type;
	if (header_has(&session->source->header, FEATURE_STAT) || types & SAMPLE_READ)
		return true;
	return o->time != LISTING_TIME || o->count_misordered || event_switch_given(&o->switches) || o->event_writer || o->dump ||
		o->graph_functions ||
		shown & FIELD_BIT(FIELD_SRCCODE) ||
		(!o->format && shown & FIELD_BIT(FIELD_DATA_SRC) && types & SAMPLE_DATA_SRC);
}

int listing_open(struct listing **out_stream, const struct listing_options *options, struct session *session,
	struct symbols *symbols, struct writer *out, struct error *err)
{
	struct listing *listing = memory_zero(1, sizeof *listing);

	listing->options = *options;
	if (listing->options.max_stack > LISTING_CHAIN_MAX)
		listing->options.max_stack = LISTING_CHAIN_MAX;
	listing->session = session;
	listing->symbols = symbols;
	listing->out = out;
	pthread_mutex_init(&listing->lock, NULL);
	pthread_cond_init(&listing->turn, NULL);
	listing->switches = options->switches;
	listing->varies = varies(options, session);
	listing->serial = listing->varies || fields_shown(options->fields) & FIELD_BIT(FIELD_CALLINDENT);
	listing->unfiltered = listing_is_unfiltered(listing);
	listing->worker_count = session_workers(session);
	listing->workers = memory_zero(listing->worker_count, sizeof *listing->workers);
	for (unsigned i = 0; i < listing->worker_count; i++)
		listing->workers[i] = memory_zero(1, sizeof **listing->workers);
	if (session_evlist(session)->events.count)
		listing_refresh(listing);
	if (listing->error.kind != ERROR_NONE) {
		if (err)
			*err = listing->error;
		listing_close(listing);
		return -1;
	}
	*out_stream = listing;
	return 0;
}

static void worker_close(struct listing_worker *worker)
{
	vec_fini(&worker->comms);
	arena_fini(&worker->arena);
	arena_fini(&worker->row);
	vec_fini(&worker->cells);
	writer_fini(&worker->printed);
	writer_fini(&worker->frame_text);
	branch_line_forget(worker);
	str_fini(&worker->scratch);
	disassembler_close(worker->disassemblers[0]);
	disassembler_close(worker->disassemblers[1]);
	free(worker);
}

void listing_close(struct listing *listing)
{
	if (!listing)
		return;
	for (unsigned i = 0; i < listing->worker_count; i++)
		worker_close(listing->workers[i]);
	listing_slices_fini(listing);
	listing_table_fini(listing);
	tracepoints_close(listing->tracepoints);
	sample_reads_fini(&listing->reads);
	listing_stat_fini(&listing->stat);
	listing_sources_fini(listing);
	branch_counters_fini(&listing->branch_counters);
	idmap_fini(&listing->graph_of_thread);
	vec_fini(&listing->graphs);
	arena_fini(&listing->arena);
	free(listing->workers);
	free(listing->plans);
	free(listing->event_writers);
	free(listing->counters.samples);
	free(listing);
}

const struct error *listing_error(const struct listing *listing)
{
	return listing->error.kind == ERROR_NONE ? NULL : &listing->error;
}

const struct listing_counters *listing_counters(const struct listing *listing)
{
	return &listing->counters;
}

static void print_steps(const struct listing_line *line, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		line->plan->steps[i].print(line, line->plan->steps[i].row);
}

static void print_sample(const struct listing_line *line)
{
	const struct listing_plan *plan = line->plan;

	if (branch_line_print(line))
		return;
	if (shows(line, FIELD_BRCNTR) && !line->listing->options.verbose)
		branch_counters_explain(&line->listing->branch_counters, &line->listing->session->source->header, line->out);
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

/* Without a trailer a record names its process, and a FORK its time; the rest is 0, as in perf. */
static void fill_without_trailer(struct resolved *own, struct sample *sample)
{
	const struct record *record = own->record;
	struct cursor c = cursor_of(record->body, record->body_len, false);

	*sample = *own->sample;
	own->sample = sample;
	own->pid = (int32_t)take_u32(&c);
	sample->pid = (uint32_t)own->pid;
	sample->tid = (uint32_t)own->tid;
	for (unsigned i = 0; i < 3; i++)
		(void)take_u32(&c);
	sample->cpu = 0;
	sample->time = record->type == RECORD_FORK ? take_u64(&c) : 0;
}

static void add_record_row(const struct listing_line *line)
{
	struct writer text;

	writer_open(&text, -1, 256);
	record_text(line->r->record, line->r->sample->id, &text);
	writer_putc(&text, '\0');
	listing_table_row(line, text.buffer);
	writer_fini(&text);
}

/* As perf's script prints it: unlike its raw dump, without the id of the event. */
static void print_lost(struct listing_line *line)
{
	struct cursor c = cursor_of(line->r->record->body, line->r->record->body_len, false);

	(void)take_u64(&c);
	writer_printf(line->out, " lost %" PRIu64 "\n", take_u64(&c));
}

/* A record that is not a sample: the start of a line with the fields of its event, then the record as text; or a row. */
static void print_record(struct listing_line *line)
{
	const struct resolved *r = line->r;
	const struct model *model = &line->listing->session->model;
	struct resolved own = *r;
	struct sample sample;

	if (r->event < line->listing->plan_count) {
		/* a thread that exits has its name until then */
		uint64_t clock = r->clock - (r->record->type == RECORD_EXIT);
		bool guest = mode_is_guest(record_cpumode(r->record));
		own.tid = record_tid(r);
		own.machine = guest ? injected_get(&model->injected, r->sample->id) : NULL;
		own.guest = model->guests && guest && !own.machine;
		int32_t tid = own.machine ? injected_tid(own.machine, own.tid) : own.tid;
		own.comm = own.guest ? COMM_NONE : model_comm(model, model_thread(model, tid, clock), clock);
		if (r->evsel && !attr_flag(&r->evsel->attr, ATTR_SAMPLE_ID_ALL))
			fill_without_trailer(&own, &sample);
		line->plan = &line->listing->plans[r->event];
	}
	if (listing_drops_cpu(line->listing, own.sample->cpu))
		return;
	line->r = &own;
	if (line->listing->options.format) {
		add_record_row(line);
	} else {
		print_steps(line, 0, line->plan ? line->plan->start_count : 0);
		writer_puts(line->out, "PERF_RECORD_");
		writer_puts(line->out, record_type_name(r->record->type));
		if (r->record->type == RECORD_LOST)
			print_lost(line);
		else if (!record_text(r->record, r->sample->id, line->out))
			writer_putc(line->out, '\n');
	}
	line->r = r;
}

static void process_sample(struct listing_line *line)
{
	struct listing *listing = line->listing;
	uint32_t event = line->r->event;

	if (event >= listing->plan_count || listing->error.kind != ERROR_NONE)
		return;
	line->plan = &listing->plans[event];
	if (listing_drops(line) || !line->plan->shown)
		return;
	if (listing->event_writers && listing->event_writers[event]) {
		line->out = listing->event_writers[event];
		listing->counters.samples[event]++;
	}
	if (listing->options.format)
		listing_table_row(line, NULL);
	else
		print_sample(line);
}

/* A sample with counter values is a sample of each event whose counter has changed. */
static void process_part(void *context, const struct sample_part *part)
{
	struct listing_line line = *(const struct listing_line *)context;
	struct resolved r = *line.r;
	struct sample sample = *r.sample;

	sample.id = part->id;
	sample.period = part->period;
	r.sample = &sample;
	r.event = part->event;
	r.evsel = &session_evlist(line.listing->session)->events.items[part->event];
	line.r = &r;
	process_sample(&line);
}

/* Whether a record is one of counters that were recorded (stat record), which are shown at the end of a round. */
static bool is_count(const struct listing *listing, uint32_t type)
{
	return listing->serial && !listing->options.format && type >= RECORD_THREAD_MAP && type <= RECORD_STAT_ROUND;
}

/* Whether records of this type, which is not that of samples, are shown as records. */
static bool is_shown(const struct listing *listing, uint32_t type)
{
	return type < 64 ? listing->options.show_records >> type & 1 : type == RECORD_FINISHED_ROUND && listing->options.show_rounds;
}

static bool on_wants_type(void *context, uint32_t type)
{
	const struct listing *listing = context;

	return listing->options.dump || type == RECORD_AUXTRACE_ERROR || is_count(listing, type) || is_shown(listing, type);
}

static void on_record(void *context, const struct resolved *r, size_t slice)
{
	struct listing *listing = context;
	uint32_t type = r->record->type;
	struct listing_worker *worker = listing->workers[worker_index(r->worker)];
	struct listing_line line = { .listing = listing, .worker = worker, .r = r, .decoded = r->evsel, .out = worker->out };

	if (!worker->out || worker->slice != slice)
		line.out = listing_slice_begin(listing, worker, slice);
	if (listing->options.dump) {
		listing->options.dump->out = line.out;
		dump_record(listing->options.dump, r);
	}
	if (type == RECORD_SAMPLE && listing->has_reads && r->event < listing->plan_count)
		sample_reads_each(&listing->reads, session_evlist(listing->session), r->event, r->sample, process_part, &line);
	else if (type == RECORD_SAMPLE)
		process_sample(&line);
	else if (type == RECORD_AUXTRACE_ERROR && listing->options.format)
		add_record_row(&line);
	else if (type == RECORD_AUXTRACE_ERROR && !listing->options.dump)
		record_text(r->record, 0, line.out);
	else if (is_count(listing, type))
		listing_stat_add(&listing->stat, session_evlist(listing->session), r->record, line.out);
	else if (is_shown(listing, type))
		print_record(&line);
	if (worker->out->len - worker->held > LISTING_SPILL_BYTES)
		listing_slice_spill(listing, worker);
}

static void on_batch_begin(void *context, struct session *session, size_t slices)
{
	struct listing *listing = context;

	(void)session;
	listing_refresh(listing);
	if (listing->options.format && listing->plan_count && listing->error.kind == ERROR_NONE)
		listing_table_begin(listing);
	listing_slices_start(listing, slices);
}

static void on_slice_end(void *context, const struct worker *worker, size_t slice)
{
	struct listing *listing = context;

	listing_slice_end(listing, listing->workers[worker_index(worker)], slice);
}

static void on_forget(void *context, unsigned worker)
{
	struct listing *listing = context;

	vec_clear(&listing->workers[worker]->comms);
	arena_clear(&listing->workers[worker]->arena);
	branch_line_forget(listing->workers[worker]);
}

struct sink listing_sink(struct listing *listing)
{
	return (struct sink){ .context = listing, .batch_begin = on_batch_begin, .record = on_record, .slice_end = on_slice_end,
		.forget = on_forget, .want_records = true, .wants_type = on_wants_type, .late_places = true,
		.serial = listing->serial,
		.unordered = listing->options.show_rounds || (listing->options.dump && listing->options.dump->unordered) };
}
