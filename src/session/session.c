#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/budget.h"
#include "base/search.h"
#include "session/deferred.h"
#include "session/jit.h"
#include "session/order.h"
#include "session/recorded_build_ids.h"
#include "session/stitch.h"
#include "session/trace.h"
#include "session/worker.h"
#include "unwind/stack_memory.h"

enum {
	BATCH_RECORDS = 16384,       /* a batch is passed to the workers at this many records … */
	BATCH_BYTES = 2 << 20,       /* … or bytes */
	SLICE_RECORDS = 512,         /* maximum; batches of few, large records have slices of at least … */
	SLICE_RECORDS_MIN = 32,      /* … this many */
	SLICES = 8,
	BLOCK_RECORDS = 16,          /* resolved together, so that their cache misses overlap */
	PATIENCE_RECORDS = 65536,    /* a sample waits for its deferred chain until this many records follow */
	PATIENCE_BYTES = 64 << 20,
	WAITING_EVERY = 4096,        /* records between checks of the waiting bytes */
	PROGRESS_EVERY = 4096,       /* records between checks of the clock */
};

struct session_internal {
	const struct sink *sink;
	struct order order;
	struct entries batch;
	struct entries plain;        /* with a trace: the batch before the samples of the trace are added */
	VEC(uint64_t) changes;       /* clocks within the batch at which the model changes */
	uint64_t batch_bytes, batch_clock; /* clock of the batch's first record */
	uint64_t mark;             /* the source's mark: data before it is no longer needed */
	struct budget *budget;
	struct deferred deferred;
	size_t held;                 /* records at the batch's start that still wait */
	uint64_t held_bytes;
	size_t build_ids_taken;
	size_t modules_seen;         /* number of modules checked, none of which is a kernel */
	bool unordered, ordered_rounds;
	int time_at, trailer_time_at; /* common to all events, as u64 index; -1: differs */
	size_t layouts_seen;         /* number of events from which the two above were computed */
	struct session_jit jit;
	struct worker **workers;
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
	uint64_t progress_time_ns, batch_time_ns;
};

int session_open(struct session *session, struct source *source, const struct session_options *options, struct error *err)
{
	*session = (struct session){ .source = source };
	session->counters.first_time = UINT64_MAX;
	model_init(&session->model);
	session->model.keep_exited = options->keep_exited;
	session->model.budget = options->budget;
	if (options->images)
		session->unwind_tables = unwind_tables_new(&session->model.modules, options->images);
	session->no_guess = options->no_guess;
	session->stack_memory = options->join_stacks ? memory_zero(1, sizeof *session->stack_memory) : NULL;
	session->kernel_beyond = options->kernel_beyond;
	session->kernel_beyond_context = options->kernel_beyond_context;
	session->kernel_parts = options->kernel_parts;
	session->jit_open = options->jit_open;
	session->jit_context = options->jit_context;
	session->stitch = options->stitch_call_stacks ? memory_zero(1, sizeof *session->stitch) : NULL;
	session->trace = options->trace ? trace_open(source, options->trace) : NULL;
	session->pool = pool_new(options->threads);
	struct session_internal *in = session->internal = memory_zero(1, sizeof *in);
	in->budget = options->budget;
	in->ordered_rounds = options->ordered_rounds;
	unsigned workers = pool_workers(session->pool);
	in->workers = memory_zero(workers, sizeof *in->workers);
	for (unsigned i = 0; i < workers; i++)
		in->workers[i] = worker_new(session, i);
	in->progress = options->progress;
	in->progress_context = options->progress_context;
	in->time_at = in->trailer_time_at = -1;
	session_jit_init(&in->jit, in->budget);
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
		vec_fini(&in->plain);
		vec_fini(&in->changes);
		deferred_fini(&in->deferred);
		session_jit_fini(&in->jit);
		free(in);
		unwind_tables_free(session->unwind_tables);
		model_fini(&session->model);
	}
	if (session->stitch)
		stitch_fini(session->stitch);
	free(session->stitch);
	if (session->stack_memory)
		stack_memory_fini(session->stack_memory);
	free(session->stack_memory);
	pool_free(session->pool);
	trace_free(session->trace);
	source_close(session->source);
	*session = (struct session){ 0 };
}

unsigned session_workers(const struct session *session)
{
	return pool_workers(session->pool);
}

/* Finds a position of the time that all events share, if there is one: ordering a record then needs no lookup of its event. */
static void layouts_refresh(struct session_internal *in, const struct evlist *evlist)
{
	if (in->layouts_seen == evlist->events.count)
		return;
	in->layouts_seen = evlist->events.count;
	deferred_open(&in->deferred, evlist);
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

static uint64_t record_time(const struct session_internal *in, const struct evlist *evlist, const struct record *record)
{
	bool sample = record->type == RECORD_SAMPLE;
	if (sample && in->time_at >= 0)
		return record_time_from_front(record, in->time_at);
	if (!sample && in->trailer_time_at > 0)
		return record_time_from_back(record, in->trailer_time_at);
	return evlist_time_of(evlist, record);
}

static void count_loss(struct session_counters *counters, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	if (record->type == RECORD_LOST) {
		take_u64(&c);
		counters->lost_events += take_u64(&c);
		counters->lost_records++;
	} else if (record->type == RECORD_LOST_SAMPLES && !(record->misc & RECORD_MISC_LOST_SAMPLES_BPF)) {
		counters->lost_samples += take_u64(&c);
	} else if (record->type == RECORD_AUX) {
		enum { CUT = 1, PARTIAL = 4, COLLISION = 8 };
		take(&c, 16);
		counters->lost_traces += (take_u64(&c) & (CUT | PARTIAL | COLLISION)) != 0;
	}
	counters->bad_records += record->body_len < record_least_body(record->type);
}

#define KERNEL_PARTS_MAX 128u

/* The kernel is known from the time of its record on. */
static void place_kernel(struct session *session, uint64_t clock)
{
	struct kernel_part parts[KERNEL_PARTS_MAX];
	const struct modules *modules = &session->model.modules;
	for (size_t *i = &session->internal->modules_seen; *i < modules->list.count; ++*i) {
		const struct module *kernel = modules->list.items[*i];
		if (!kernel || kernel->kind != MODULE_KERNEL || kernel->guest)
			continue;
		size_t count = session->kernel_parts(session->kernel_beyond_context, kernel, parts, KERNEL_PARTS_MAX);
		model_place_kernel(&session->model, kernel, parts, count, clock);
		session->kernel_parts = NULL;
		return;
	}
}

static void apply_side_band(struct session *session, const struct entry *entry, uint64_t clock)
{
	struct session_internal *in = session->internal;
	const struct evlist *evlist = session_evlist(session);
	struct record record = entry_record(entry);
	struct sample trailer;
	uint32_t event = evlist_event_of(evlist, &record);
	static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
	sample_decode_trailer(&trailer, event == UINT32_MAX ? &none : &evlist->events.items[event].layout, &record);
	count_loss(&session->counters, &record);
	model_apply(&session->model, &record, &trailer, clock);
	if (session->kernel_parts && (record.type == RECORD_MMAP || record.type == RECORD_MMAP2) &&
	    record_cpumode(&record) == RECORD_MISC_KERNEL)
		place_kernel(session, clock);
	if (session->trace)
		trace_note_record(session->trace, &record, &trailer);
	if (session->jit_open && (record.type == RECORD_MMAP || record.type == RECORD_MMAP2))
		session_jit_take_mapping(session, &in->jit, &record, clock);
}

static void apply_entry(struct session *session, const struct entry *entry, uint64_t clock)
{
	struct session_internal *in = session->internal;
	uint32_t type = load_u32(entry->body - 8);
	uint64_t before = session->model.changes;
	if (entry->time >= in->jit.next_ns && entry->time != UINT64_MAX)
		session_jit_advance(session, &in->jit, entry->time, clock);
	if (type != RECORD_SAMPLE && type < RECORD_USER_TYPE_START)
		apply_side_band(session, entry, clock);
	if (session->model.changes != before)
		vec_push(&in->changes, clock);
}

static void model_begin(struct session *session)
{
	struct session_internal *in = session->internal;
	vec_clear(&in->changes);
	recorded_build_ids_take(&session->model, &session->source->header, &in->build_ids_taken);
	if (in->jit.open)
		session_jit_refresh(session, &in->jit);
}

/* Applies the batch's side-band to the model, in order, before any of its samples is resolved. */
static void batch_model(struct session *session)
{
	struct session_internal *in = session->internal;
	model_begin(session);
	for (size_t i = 0; i < in->batch.count; i++)
		apply_entry(session, &in->batch.items[i], in->batch_clock + i);
}

static size_t first_change_after(const struct session_internal *in, uint64_t clock)
{
	return SEARCH_COUNT(in->changes.count, i, in->changes.items[i] <= clock);
}

/* Decodes the record as the sink needs it; false if the sink does not use it. */
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

/* Checks a sample that the sink skips. */
static void check_sample(const struct session *session, struct worker_tally *tally, const struct record *record)
{
	const struct evlist *evlist = session_evlist(session);
	uint32_t event = evlist_event_of(evlist, record);
	if (event == UINT32_MAX)
		tally->unknown_ids++;
	else if (sample_is_whole(&evlist->events.items[event].layout, record))
		tally->samples++;
	else
		tally->bad_samples++;
}

/* Samples (and other records that the sink uses) that are resolved together. */
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
	if (record->type == RECORD_SAMPLE && in->sink->skip_samples) {
		check_sample(session, &worker->tally, record);
		return;
	}
	if (record->type != RECORD_SAMPLE && !in->sink->want_records)
		return;
	struct sample *sample = &block->samples[block->count];
	struct resolved *r = &block->resolved[block->count];
	*r = (struct resolved){ .session = session, .worker = worker, .record = record, .sample = sample, .clock = clock };
	if (!resolve_record(session, &worker->tally, r, sample))
		return;
	if (in->deferred.wanted)
		deferred_merge(&in->deferred, sample, &worker->merged);
	worker_resolve(worker, &session->model, r);
	if (sample->present & SAMPLE_IP)
		worker_prefetch(r, record_cpumode(record), sample->ip);
	if (user_stack_is(r))
		user_stack_prefetch(sample);
	block->count++;
}

static bool is_serial(const struct session *session)
{
	return session->internal->sink->serial || session->stitch || session->stack_memory;
}

/* Depends only on the batch, so that any number of workers yields the same slices. */
static size_t slice_records(const struct session *session)
{
	size_t count = session->internal->batch.count, each = (count + SLICES - 1) / SLICES;
	if (is_serial(session))
		return count;
	return each < SLICE_RECORDS_MIN ? SLICE_RECORDS_MIN : each > SLICE_RECORDS ? SLICE_RECORDS : each;
}

static void slice_run(void *context, size_t slice, unsigned index)
{
	struct session *session = context;
	struct session_internal *in = session->internal;
	struct worker *worker = in->workers[index];
	size_t size = slice_records(session), from = slice * size, to = in->batch.count - from < size ? in->batch.count : from + size;
	uint64_t clock = in->batch_clock + from;
	size_t change = first_change_after(in, clock);
	struct block block;
	block.count = 0; /* the other members are set before they are read */
	arena_fini(&worker->merged);
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
	if (in->sink->slice_end)
		in->sink->slice_end(in->sink->context, worker, slice);
}

static void batch_slices(struct session *session)
{
	struct session_internal *in = session->internal;
	const struct sink *sink = in->sink;
	if (in->batch.count && (sink->record || sink->skip_samples)) {
		size_t slices = (in->batch.count + slice_records(session) - 1) / slice_records(session);
		if (sink->batch_begin)
			sink->batch_begin(sink->context, session, slices);
		pool_run(session->pool, slices, slice_run, session);
		if (sink->batch_end)
			sink->batch_end(sink->context, session, slices);
	}
	in->batch_clock += in->batch.count;
}

static void batch_end_part(struct session *session)
{
	batch_slices(session);
	session->internal->batch.count = 0;
	trace_release(session->trace);
	model_begin(session);
}

/* Adds the samples of the trace that are older than `until`. */
static void batch_add_trace(struct session *session, uint64_t until)
{
	struct session_internal *in = session->internal;
	while (trace_advance(session->trace, &session->model, until, in->batch_clock + in->batch.count, BATCH_RECORDS, &in->batch))
		batch_end_part(session);
}

/* The samples of a trace are delivered between the records, with the model as of that position. */
static void batch_process_traced(struct session *session)
{
	struct session_internal *in = session->internal;
	struct entries records = in->batch;
	in->batch = in->plain;
	in->batch.count = 0;
	model_begin(session);
	for (size_t i = 0; i < records.count; i++) {
		const struct entry *entry = &records.items[i];
		if (entry->time != UINT64_MAX && entry->time)
			batch_add_trace(session, entry->time);
		apply_entry(session, entry, in->batch_clock + in->batch.count);
		vec_push(&in->batch, *entry);
		if (in->batch.count >= BATCH_RECORDS)
			batch_end_part(session);
	}
	batch_end_part(session);
	in->plain = in->batch;
	in->batch = records;
}

static void batch_process(struct session *session)
{
	if (session->trace) {
		batch_process_traced(session);
		return;
	}
	batch_model(session);
	batch_slices(session);
}

static uint16_t entry_size(const struct entry *entry)
{
	uint16_t size;
	memcpy(&size, entry->body - 2, sizeof size);
	return size;
}

/* Processes the batch; `waiting`: except for the first sample that waits for its chain, and the records after it. */
static void batch_run_to(struct session *session, bool waiting)
{
	struct session_internal *in = session->internal;
	size_t count = in->batch.count, due = count;
	if (in->deferred.wanted && waiting)
		due = deferred_due(&in->deferred, count, in->batch_bytes < PATIENCE_BYTES ? PATIENCE_RECORDS : 0);
	in->batch.count = due;
	source_release(session->source, in->mark);
	if (due)
		batch_process(session);
	if (in->deferred.wanted)
		deferred_shift(&in->deferred, due);
	in->batch.count = in->held = count - due;
	in->batch_bytes = 0;
	if (in->held)
		memmove(in->batch.items, in->batch.items + due, in->held * sizeof *in->batch.items);
	for (size_t i = 0; i < in->held; i++)
		in->batch_bytes += entry_size(&in->batch.items[i]);
	in->held_bytes = in->batch_bytes;
	if (in->held)
		return; /* the records that wait still need their bytes */
	uint64_t mark = order_mark(&in->order);
	in->mark = mark < source_mark(session->source) ? mark : source_mark(session->source);
	source_release(session->source, in->mark);
}

static void batch_run(struct session *session)
{
	batch_run_to(session, true);
}

static void deliver(void *context, const struct entry *entry)
{
	struct session *session = context;
	struct session_internal *in = session->internal;
	if (__builtin_expect(in->deferred.wanted, 0)) {
		struct record record = entry_record(entry);
		if (record.type == RECORD_SAMPLE || record.type == RECORD_CALLCHAIN_DEFERRED)
			deferred_note(&in->deferred, session_evlist(session), &record, in->batch.count);
	}
	vec_push(&in->batch, *entry);
	in->batch_bytes += entry_size(entry);
	if (in->batch.count - in->held >= BATCH_RECORDS || in->batch_bytes - in->held_bytes >= BATCH_BYTES)
		batch_run(session);
}

/* A sample that the sink skips, in the order of the file: checked while its bytes are in the CPU's cache. */
static void pass_sample(struct session *session, const struct record *record)
{
	struct session_internal *in = session->internal;
	check_sample(session, &in->workers[0]->tally, record);
	in->batch_bytes += record->body_len;
	if (in->batch_bytes - in->held_bytes >= BATCH_BYTES)
		batch_run(session); /* releases the bytes that were read */
}

/* Returns true at most every tenth of a second. */
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

/* Bytes of waiting records that are in no file. */
static uint64_t copied_bytes(const struct session *session)
{
	const struct session_internal *in = session->internal;
	const uint64_t *by_type = session->counters.by_type;
	bool copied = session->source->header.pipe || by_type[RECORD_COMPRESSED] || by_type[RECORD_COMPRESSED2];
	return copied ? source_mark(session->source) - in->mark : 0;
}

/* In a recording without FINISHED_ROUND all records wait; compressed, some kilobytes can become many gigabytes. If they exceed the budget,
 * they are delivered as if a round had finished. */
static void bound_waiting(struct session *session)
{
	struct session_internal *in = session->internal;
	if (order_fits(&in->order, in->budget, copied_bytes(session)))
		return;
	order_flush(&in->order, true, deliver, session);
	batch_run_to(session, false);
	budget_hurry(in->budget);
	order_settle(&in->order, in->budget);
}

static void session_record(struct session *session, const struct record *record, uint64_t mark)
{
	struct session_internal *in = session->internal;
	const struct sink *sink = in->sink;
	struct session_counters *counters = &session->counters;
	counters->records++;
	if (record->type < RECORD_TYPE_MAX)
		counters->by_type[record->type]++;
	if (record->type == RECORD_TIME_CONV)
		time_conv_read(&in->jit.clock, record);
	if (in->progress && counters->records % PROGRESS_EVERY == 0)
		report_progress(session);
	if (sink->raw)
		sink->raw(sink->context, session, record);
	if (record->type == RECORD_SAMPLE && sink->skip_samples && in->unordered) {
		pass_sample(session, record);
		return;
	}
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
		order_flush(&in->order, in->ordered_rounds, deliver, session);
		if (session->source->header.pipe && is_time(&in->batch_time_ns))
			batch_run(session); /* a user may be watching: do not wait for a full batch */
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
		user_stack_count(&in->workers[i]->user_stack, &counters->unwind);
		if (tally->first_time < counters->first_time)
			counters->first_time = tally->first_time;
		if (tally->last_time > counters->last_time)
			counters->last_time = tally->last_time;
	}
	counters->out_of_order = in->order.late;
}

/* Old recorders gave times only to samples: then only the order in the file determines the mappings that a sample sees. */
static bool side_band_is_timed(const struct source *source)
{
	const struct evlist *evlist = &source->header.evlist;
	return source->header.pipe || !evlist->events.count || attr_flag(&evlist->events.items[0].attr, ATTR_SAMPLE_ID_ALL);
}

void session_begin(struct session *session, const struct sink *sink)
{
	struct session_internal *in = session->internal;
	in->sink = sink;
	in->unordered = in->jit.unordered = sink->unordered || !side_band_is_timed(session->source);
	in->batch_clock = 1; /* clock 0 is the state before the first record */
}

/* Returns as source_next. */
static int read_record(struct session *session)
{
	struct session_internal *in = session->internal;
	struct record record;
	uint64_t mark = source_mark(session->source);
	int more = source_next(session->source, &record, &session->error);
	if (more <= 0)
		return more;
	session_record(session, &record, mark);
	if (in->budget && session->counters.records % WAITING_EVERY == 0)
		bound_waiting(session);
	return 1;
}

int session_take(struct session *session)
{
	int more;
	while ((more = read_record(session)) > 0)
		;
	batch_run(session);
	return more;
}

int session_end(struct session *session, struct error *err)
{
	struct session_internal *in = session->internal;
	order_flush(&in->order, true, deliver, session);
	batch_run_to(session, false);
	if (session->trace) {
		in->batch.count = 0;
		batch_add_trace(session, UINT64_MAX);
		batch_end_part(session);
	}
	order_settle(&in->order, in->budget);
	add_tallies(session);
	if (in->progress)
		in->progress(in->progress_context, session->source->counters.bytes_total, session->source->counters.bytes_total);
	if (session->error.kind == ERROR_NONE)
		return 0;
	if (err)
		*err = session->error;
	return -1;
}

int session_run(struct session *session, const struct sink *sink, struct error *err)
{
	session_begin(session, sink);
	while (read_record(session) > 0)
		;
	return session_end(session, err);
}

void session_renew(struct session *session, struct model_renewal *renewal)
{
	struct session_internal *in = session->internal;
	renewal->clock = in->batch_clock;
	model_renew_held(&session->model, renewal);
	for (unsigned i = 0; i < session_workers(session); i++)
		worker_renew(in->workers[i]);
	memory_give_back();
}

size_t session_growth(const struct session *session)
{
	enum { THREAD_BYTES = 512 }; /* of a thread, beside the arena: its lists, its address space, its places in indices */
	size_t bytes = session->model.arena.bytes + session->model.threads.count * THREAD_BYTES;
	for (unsigned i = 0; i < session_workers(session); i++)
		bytes += worker_growth(session->internal->workers[i]);
	return bytes;
}
