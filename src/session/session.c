#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "session/order.h"
#include "session/worker.h"

enum {
	BATCH_RECORDS = 16384,       /* a batch is handed to the workers at this many records … */
	BATCH_BYTES = 2 << 20,       /* … or bytes */
	SLICE_RECORDS = 1024,
	BLOCK_RECORDS = 16,          /* resolved side by side, so that their cache misses overlap */
	PROGRESS_EVERY = 4096,       /* records between looks at the clock */
};

struct session_internal {
	const struct sink *sink;
	struct order order;
	VEC(struct entry) batch;
	VEC(uint64_t) changes;       /* clocks within the batch at which the model changed */
	uint64_t batch_bytes, batch_clock; /* clock of the batch's first record */
	size_t build_ids_taken;
	bool unordered;
	int time_at, trailer_time_at; /* common to all events, u64 index; -1: differs */
	size_t layouts_seen;         /* events that the two above were computed from */
	struct worker **workers;
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
	uint64_t progress_time_ns, batch_time_ns;
};

/* The record that an entry stands for. */
static struct record entry_record(const struct entry *entry)
{
	const uint8_t *head = entry->body - 8;
	uint16_t misc, size;
	memcpy(&misc, head + 4, sizeof misc);
	memcpy(&size, head + 6, sizeof size);
	return (struct record){ .type = load_u32(head), .misc = misc, .body_len = size - 8u, .body = entry->body, .offset = entry->offset };
}

int session_open(struct session *session, struct source *source, const struct session_options *options, struct error *err)
{
	*session = (struct session){ .source = source };
	session->counters.first_time = UINT64_MAX;
	model_init(&session->model);
	session->model.keep_exited = options->keep_exited;
	session->kernel_beyond = options->kernel_beyond;
	session->kernel_beyond_context = options->kernel_beyond_context;
	session->pool = pool_new(options->threads);
	struct session_internal *in = session->internal = memory_zero(1, sizeof *in);
	unsigned workers = pool_workers(session->pool);
	in->workers = memory_zero(workers, sizeof *in->workers);
	for (unsigned i = 0; i < workers; i++)
		in->workers[i] = worker_new(session, i);
	in->progress = options->progress;
	in->progress_context = options->progress_context;
	in->time_at = in->trailer_time_at = -1;
	return 0;
}

void session_close(struct session *session)
{
	struct session_internal *in = session->internal;
	if (in) {
		for (unsigned i = 0; i < pool_workers(session->pool); i++)
			worker_free(in->workers[i]);
		free(in->workers);
		order_fini(&in->order);
		vec_fini(&in->batch);
		vec_fini(&in->changes);
		free(in);
		model_fini(&session->model);
	}
	pool_free(session->pool);
	source_close(session->source);
	*session = (struct session){ 0 };
}

unsigned session_workers(const struct session *session)
{
	return pool_workers(session->pool);
}

/* Where all events keep the time, if it is one place: then no record needs its event looked up before it is ordered. */
static void layouts_refresh(struct session_internal *in, const struct evlist *evlist)
{
	if (in->layouts_seen == evlist->events.count)
		return;
	in->layouts_seen = evlist->events.count;
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct sample_layout *layout = &evlist->events.items[i].layout;
		if (i == 0) {
			in->time_at = layout->time_at;
			in->trailer_time_at = layout->trailer_time_at;
		}
		if (layout->time_at != in->time_at)
			in->time_at = -1;
		if (layout->trailer_time_at != in->trailer_time_at)
			in->trailer_time_at = 0;
	}
}

static uint64_t time_from_front(const struct record *record, int at)
{
	return at >= 0 && (uint32_t)(at + 1) * 8 <= record->body_len ? load_u64(record->body + at * 8) : UINT64_MAX;
}

static uint64_t time_from_back(const struct record *record, int back)
{
	return back > 0 && (uint32_t)back * 8 <= record->body_len ? load_u64(record->body + record->body_len - back * 8) : UINT64_MAX;
}

static uint64_t record_time(const struct session_internal *in, const struct evlist *evlist, const struct record *record)
{
	bool sample = record->type == RECORD_SAMPLE;
	if (sample && in->time_at >= 0)
		return time_from_front(record, in->time_at);
	if (!sample && in->trailer_time_at > 0)
		return time_from_back(record, in->trailer_time_at);
	uint32_t event = evlist_event_of(evlist, record);
	if (event == UINT32_MAX)
		return UINT64_MAX;
	const struct sample_layout *layout = &evlist->events.items[event].layout;
	return sample ? time_from_front(record, layout->time_at) : time_from_back(record, layout->trailer_time_at);
}

static void count_loss(struct session_counters *counters, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	if (record->type == RECORD_LOST) {
		take_u64(&c);
		counters->lost_events += take_u64(&c);
		counters->lost_records++;
	} else if (record->type == RECORD_LOST_SAMPLES) {
		counters->lost_samples += take_u64(&c);
	}
}

static void take_build_ids(struct session *session)
{
	struct session_internal *in = session->internal;
	const struct header *header = &session->source->header;
	for (; in->build_ids_taken < header->build_ids.count; in->build_ids_taken++) {
		const struct build_id_entry *row = &header->build_ids.items[in->build_ids_taken];
		model_set_build_id(&session->model, row->filename, row->misc, row->pid, row->id.bytes, row->id.len);
	}
}

/* The batch's side-band, in order, into the model. Done before any of its samples is looked at. */
static void batch_model(struct session *session)
{
	struct session_internal *in = session->internal;
	const struct evlist *evlist = session_evlist(session);
	vec_clear(&in->changes);
	take_build_ids(session);
	for (size_t i = 0; i < in->batch.count; i++) {
		const struct entry *entry = &in->batch.items[i];
		uint32_t type = load_u32(entry->body - 8);
		if (type == RECORD_SAMPLE || type >= RECORD_USER_TYPE_START)
			continue;
		struct record record = entry_record(entry);
		struct sample trailer;
		uint32_t event = evlist_event_of(evlist, &record);
		static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
		sample_decode_trailer(&trailer, event == UINT32_MAX ? &none : &evlist->events.items[event].layout, &record);
		count_loss(&session->counters, &record);
		uint64_t before = session->model.changes, clock = in->batch_clock + i;
		model_apply(&session->model, &record, &trailer, clock);
		if (session->model.changes != before)
			vec_push(&in->changes, clock);
	}
}

static size_t first_change_after(const struct session_internal *in, uint64_t clock)
{
	size_t low = 0, high = in->changes.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (in->changes.items[middle] <= clock)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Decodes what the record is to the sink; false where it is nothing to it. */
static bool resolve_record(struct session *session, struct worker_tally *tally, struct resolved *r, struct sample *sample)
{
	static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
	const struct evlist *evlist = session_evlist(session);
	bool is_sample = r->record->type == RECORD_SAMPLE, own = r->record->type >= RECORD_USER_TYPE_START;
	r->event = own ? UINT32_MAX : evlist_event_of(evlist, r->record);
	r->evsel = r->event == UINT32_MAX ? NULL : &evlist->events.items[r->event];
	if (!is_sample) {
		sample_decode_trailer(sample, r->evsel ? &r->evsel->layout : &none, r->record);
	} else if (!r->evsel) {
		tally->unknown_ids++;
		return false;
	} else if (sample_decode(sample, &r->evsel->layout, r->record, NULL) < 0) {
		tally->bad_samples++;
		return false;
	} else {
		tally->samples++;
		if (sample->time != UINT64_MAX) {
			tally->first_time = sample->time < tally->first_time ? sample->time : tally->first_time;
			tally->last_time = sample->time > tally->last_time ? sample->time : tally->last_time;
		}
	}
	r->pid = (int32_t)sample->pid;
	r->tid = (int32_t)sample->tid;
	return true;
}

/* Samples (and what else the sink wants) that are being resolved together. */
struct block {
	struct record records[BLOCK_RECORDS];
	struct sample samples[BLOCK_RECORDS];
	struct resolved resolved[BLOCK_RECORDS];
	size_t count;
};

static void block_finish(const struct session_internal *in, struct block *block, size_t slice)
{
	for (size_t i = 0; i < block->count; i++) {
		struct resolved *r = &block->resolved[i];
		if (r->sample->present & SAMPLE_IP) {
			r->ip = resolved_ip(r);
			__builtin_prefetch(r->ip);
		}
	}
	for (size_t i = 0; i < block->count; i++)
		in->sink->record(in->sink->context, &block->resolved[i], slice);
	block->count = 0;
}

static void block_add(struct session *session, struct worker *worker, struct block *block, const struct entry *entry, uint64_t clock)
{
	const struct session_internal *in = session->internal;
	struct record *record = &block->records[block->count];
	*record = entry_record(entry);
	if (record->type == RECORD_SAMPLE ? in->sink->skip_samples : !in->sink->want_records)
		return;
	struct sample *sample = &block->samples[block->count];
	struct resolved *r = &block->resolved[block->count];
	*r = (struct resolved){ .session = session, .worker = worker, .record = record, .sample = sample, .clock = clock };
	if (!resolve_record(session, &worker->tally, r, sample))
		return;
	worker_resolve(worker, &session->model, r);
	if (sample->present & SAMPLE_IP)
		worker_prefetch(r, record_cpumode(record), sample->ip);
	block->count++;
}

static void slice_run(void *context, size_t slice, unsigned index)
{
	struct session *session = context;
	struct session_internal *in = session->internal;
	struct worker *worker = in->workers[index];
	size_t from = in->sink->serial ? 0 : slice * SLICE_RECORDS, to = in->batch.count;
	if (!in->sink->serial && to > from + SLICE_RECORDS)
		to = from + SLICE_RECORDS;
	uint64_t clock = in->batch_clock + from;
	size_t change = first_change_after(in, clock);
	struct block block;
	block.count = 0; /* the rest is filled before it is read */
	worker->epoch++;
	worker->kernel_root = model_kernel_root(&session->model, clock);
	for (size_t i = from; i < to; i++, clock++) {
		if (change < in->changes.count && in->changes.items[change] <= clock) {
			change++;
			worker->epoch++;
			worker->kernel_root = model_kernel_root(&session->model, clock);
		}
		block_add(session, worker, &block, &in->batch.items[i], clock);
		if (block.count == BLOCK_RECORDS)
			block_finish(in, &block, slice);
	}
	block_finish(in, &block, slice);
}

static void batch_run(struct session *session)
{
	struct session_internal *in = session->internal;
	const struct sink *sink = in->sink;
	if (!in->batch.count)
		return;
	batch_model(session);
	if (sink->record && !(sink->skip_samples && !sink->want_records)) {
		size_t slices = sink->serial ? 1 : (in->batch.count + SLICE_RECORDS - 1) / SLICE_RECORDS;
		if (sink->batch_begin)
			sink->batch_begin(sink->context, session, slices);
		pool_run(session->pool, slices, slice_run, session);
		if (sink->batch_end)
			sink->batch_end(sink->context, session, slices);
	}
	in->batch_clock += in->batch.count;
	vec_clear(&in->batch);
	in->batch_bytes = 0;
	uint64_t mark = order_mark(&in->order);
	source_release(session->source, mark < source_mark(session->source) ? mark : source_mark(session->source));
}

static void deliver(void *context, const struct entry *entry)
{
	struct session *session = context;
	struct session_internal *in = session->internal;
	uint16_t size;
	memcpy(&size, entry->body - 2, sizeof size);
	vec_push(&in->batch, *entry);
	in->batch_bytes += size;
	if (in->batch.count >= BATCH_RECORDS || in->batch_bytes >= BATCH_BYTES)
		batch_run(session);
}

/* Whether a tenth of a second has passed since it last said so. */
static bool is_time(uint64_t *last_ns)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	if (now_ns - *last_ns < 100000000u)
		return false;
	*last_ns = now_ns;
	return true;
}

static void report_progress(struct session *session)
{
	struct session_internal *in = session->internal;
	if (!is_time(&in->progress_time_ns))
		return;
	in->progress(in->progress_context, session->source->counters.bytes_read, session->source->counters.bytes_total);
}

static void session_record(struct session *session, const struct record *record, uint64_t mark)
{
	struct session_internal *in = session->internal;
	const struct sink *sink = in->sink;
	struct session_counters *counters = &session->counters;
	counters->records++;
	if (record->type < RECORD_TYPE_MAX)
		counters->by_type[record->type]++;
	else
		counters->unknown_types++;
	if (in->progress && counters->records % PROGRESS_EVERY == 0)
		report_progress(session);
	if (sink->raw)
		sink->raw(sink->context, session, record);
	struct entry entry = { .time = UINT64_MAX, .offset = record->offset, .body = record->body };
	bool own = record->type >= RECORD_USER_TYPE_START;
	if (!own && !in->unordered) {
		layouts_refresh(in, session_evlist(session));
		entry.time = record_time(in, session_evlist(session), record);
	}
	if (entry.time != 0 && entry.time != UINT64_MAX)
		order_add(&in->order, &entry, mark);
	else if (!own || sink->want_records)
		deliver(session, &entry);
	if (record->type == RECORD_FINISHED_ROUND) {
		order_flush(&in->order, false, deliver, session);
		if (session->source->header.pipe && is_time(&in->batch_time_ns))
			batch_run(session); /* someone may be watching: do not wait for a full batch */
	}
}

static void add_tallies(struct session *session)
{
	struct session_internal *in = session->internal;
	struct session_counters *counters = &session->counters;
	for (unsigned i = 0; i < session_workers(session); i++) {
		const struct worker_tally *tally = &in->workers[i]->tally;
		counters->samples += tally->samples;
		counters->bad_samples += tally->bad_samples;
		counters->unknown_ids += tally->unknown_ids;
		if (tally->first_time < counters->first_time)
			counters->first_time = tally->first_time;
		if (tally->last_time > counters->last_time)
			counters->last_time = tally->last_time;
	}
	counters->out_of_order = in->order.late;
}

/* Old recorders gave times to samples alone: then nothing but the file's order tells what a sample could see. */
static bool side_band_is_timed(const struct source *source)
{
	const struct evlist *evlist = &source->header.evlist;
	return source->header.pipe || !evlist->events.count || attr_flag(&evlist->events.items[0].attr, ATTR_SAMPLE_ID_ALL);
}

int session_run(struct session *session, const struct sink *sink, struct error *err)
{
	struct session_internal *in = session->internal;
	in->sink = sink;
	in->unordered = sink->unordered || !side_band_is_timed(session->source);
	in->batch_clock = 1; /* clock 0 is what stands before the first record */
	for (;;) {
		struct record record;
		uint64_t mark = source_mark(session->source);
		int more = source_next(session->source, &record, &session->error);
		if (more <= 0)
			break;
		session_record(session, &record, mark);
	}
	order_flush(&in->order, true, deliver, session);
	batch_run(session);
	add_tallies(session);
	if (in->progress)
		in->progress(in->progress_context, session->source->counters.bytes_total, session->source->counters.bytes_total);
	if (session->error.kind == ERROR_NONE)
		return 0;
	if (err)
		*err = session->error;
	return -1;
}
