#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/off_cpu.h"
#include "session/decode_record.h"
#include "session/internal.h"
#include "session/kernel_parts.h"
#include "session/losses.h"
#include "session/recorded_build_ids.h"
#include "session/slices.h"
#include "session/stitch.h"
#include "session/trace.h"
#include "unwind/stack_memory.h"

/* Whether samples of --off-cpu are behind all others: with stack copies, which need the mappings of threads that have ended. */
static bool has_late_samples(const struct evlist *evlist)
{
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		if (evsel->name && strcmp(evsel->name, OFF_CPU_EVENT) == 0 && evsel->attr.sample_type & SAMPLE_STACK_USER)
			return true;
	}
	return false;
}

int session_open(struct session *session, struct source *source, const struct session_options *options, struct error *err)
{
	*session = (struct session){ .source = source };
	session->counters.first_time = UINT64_MAX;
	model_init(&session->model);
	/* samples of a trace may be of a thread whose exit was recorded before */
	session->model.keep_exited = options->keep_exited || header_has(&source->header, FEATURE_AUXTRACE);
	session->model.budget = options->budget;
	session->model.guests = options->guests;
	if (options->images)
		session->unwind_tables = unwind_tables_new(&session->model.modules, options->images);
	session->no_guess = options->no_guess;
	session->stack_memory = options->join_stacks ? memory_zero(1, sizeof *session->stack_memory) : NULL;
	session->kernel_beyond = options->kernel_beyond;
	session->kernel_beyond_context = options->kernel_beyond_context;
	session->kernel_parts = options->kernel_parts;
	session->stitch = options->stitch_call_stacks ? memory_zero(1, sizeof *session->stitch) : NULL;
	session->pool = pool_new(options->threads);
	session->trace = options->trace ? trace_open(source, options->trace, session->pool) : NULL;
	struct session_internal *in = session->internal = memory_zero(1, sizeof *in);
	in->budget = options->budget;
	in->ordered_rounds = options->ordered_rounds;
	unsigned workers = pool_workers(session->pool);
	in->workers = memory_zero(workers, sizeof *in->workers);
	for (unsigned i = 0; i < workers; i++)
		in->workers[i] = worker_new(session, i);
	in->progress = options->progress;
	in->pause = options->pause;
	in->progress_context = options->progress_context;
	in->epoch = 1;
	in->times.front = -1;
	in->jit = (struct jit_feeds){ .model = &session->model, .evlist = session_evlist(session), .budget = in->budget,
		.grows = source->header.pipe, .open = options->jit_open, .context = options->jit_context, .next_ns = UINT64_MAX };
	return 0;
}

void session_trace_window(struct session *session, uint64_t from, uint64_t until)
{
	if (session->trace)
		trace_set_window(session->trace, from, until);
	session->internal->from_ns = from;
	session->internal->until_ns = until ? until : UINT64_MAX;
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
		vec_fini(&in->spare);
		vec_fini(&in->cuts);
		vec_fini(&in->plain);
		plain_fini(&in->plain_sink);
		vec_fini(&in->changes);
		deferred_fini(&in->deferred);
		jit_feeds_fini(&in->jit);
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
	trace_free(session->trace);
	pool_free(session->pool);
	source_close(session->source);
	*session = (struct session){ 0 };
}

unsigned session_workers(const struct session *session)
{
	return pool_workers(session->pool);
}

/* Events were added. */
static void events_refresh(struct session_internal *in, const struct evlist *evlist)
{
	if (in->times.events == evlist->events.count)
		return;
	deferred_add_events(&in->deferred, evlist, in->times.events);
	record_times_refresh(&in->times, evlist);
}

/* The model needs the times of names; the rest of a trailer is for traces alone. */
static bool needs_trailer(const struct session *session, const struct record *record)
{
	bool names = record->type == RECORD_COMM || record->type == RECORD_FORK;
	bool injected = session->model.injected.ids.count;
	return session->trace || ((names || injected) && !session->model.checks_only);
}

static void decode_trailer(const struct session *session, const struct record *record, struct sample *trailer)
{
	const struct evlist *evlist = session_evlist(session);
	uint32_t event = evlist_event_of(evlist, record);
	static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
	sample_decode_trailer(trailer, event == UINT32_MAX ? &none : &evlist->events.items[event].layout, record);
}

/* Damaged side-band records so far. */
static uint64_t bad_records(const struct session *session)
{
	return session->counters.bad_records + session->model.bad_records;
}

/* A stream describes its events before the records of the processes. */
static void see_events(struct session *session)
{
	struct session_internal *in = session->internal;
	if (in->events_seen != session_evlist(session)->events.count)
		session->model.keep_exited |= has_late_samples(session_evlist(session));
	in->events_seen = session_evlist(session)->events.count;
}

static void apply_side_band(struct session *session, const struct record *record, uint64_t clock)
{
	struct session_internal *in = session->internal;
	static const struct sample absent;
	struct sample decoded;
	const struct sample *trailer = needs_trailer(session, record) ? &decoded : &absent;
	bool mapping = record->type == RECORD_MMAP || record->type == RECORD_MMAP2;
	if (trailer == &decoded)
		decode_trailer(session, record, &decoded);
	const uint64_t bad = bad_records(session);
	losses_count(&session->counters, record);
	if (record->type == RECORD_EXIT)
		see_events(session);
	model_apply(&session->model, record, trailer, clock);
	if (bad_records(session) > bad && !session->counters.bad_type) {
		session->counters.bad_type = record->type;
		session->counters.bad_offset = record->offset;
	}
	if (session->model.checks_only)
		return;
	if (session->kernel_parts && mapping && record_cpumode(record) == RECORD_MISC_KERNEL)
		session_place_kernel(session, &in->modules_seen, clock);
	if (session->trace)
		trace_note_record(session->trace, record, trailer, &in->batch);
	if (in->jit.open && mapping)
		jit_feeds_take_mapping(&in->jit, record, clock);
}

static void apply_entry(struct session *session, const struct entry *entry, uint64_t clock)
{
	struct session_internal *in = session->internal;
	uint32_t type = load_u32(entry->body - 8);
	uint64_t before = session->model.changes;
	model_combine(&session->model, type != RECORD_SAMPLE && in->combines);
	if (entry->time >= in->jit.next_ns && entry->time != UINT64_MAX)
		jit_feeds_advance(&in->jit, entry->time, clock);
	if (type != RECORD_SAMPLE && type < RECORD_USER_TYPE_START) {
		struct record record = entry_record(entry);
		apply_side_band(session, &record, clock);
	}
	if (session->model.changes != before)
		vec_push(&in->changes, clock);
}

static void model_begin(struct session *session)
{
	struct session_internal *in = session->internal;
	in->epoch += in->changes.count;
	vec_clear(&in->changes);
	recorded_build_ids_take(&session->model, &session->source->header, &in->build_ids_taken);
	in->jit.machine = header_string(&session->source->header, FEATURE_ARCH);
	if (in->jit.growing)
		jit_feeds_refresh(&in->jit);
}

/* Applies the batch's side-band to the model, in order, before any of its samples is resolved. */
static void batch_model(struct session *session)
{
	struct session_internal *in = session->internal;
	model_begin(session);
	in->combines = !in->sink->skip_samples;
	for (size_t i = 0; i < in->batch.count; i++)
		apply_entry(session, &in->batch.items[i], in->batch_clock + i);
	model_combine(&session->model, false);
	in->combines = false;
}

/* Whether the owner may do something else while slices run. Nothing that they use may change then: a chain may be completed from a later
 * record. */
static bool may_overlap(const struct session *session)
{
	const struct session_internal *in = session->internal;
	return session_workers(session) > 1 && !session_is_serial(session) && !in->sink->raw && !in->deferred.wanted;
}

/* Whether the next batch is read while the slices of this one run. A stream's header grows. */
static bool reads_ahead(const struct session *session)
{
	return may_overlap(session) && !session->source->header.pipe && !session->trace;
}

/* Whether samples of a trace are made while the slices of earlier ones run. */
static bool makes_ahead(const struct session *session)
{
	return may_overlap(session) && session->trace;
}

/* Starts the slices of the batch. */
static void batch_start(struct session *session)
{
	struct session_internal *in = session->internal;
	const struct sink *sink = in->sink;
	in->running = in->batch;
	in->running_clock = in->batch_clock;
	in->batch_clock += in->batch.count;
	if (!in->batch.count || !(sink->record || sink->skip_samples))
		return;
	slices_cut(session);
	if (sink->batch_begin)
		sink->batch_begin(sink->context, session, in->cuts.count);
	in->runs = true;
	(reads_ahead(session) || makes_ahead(session) ? pool_start_apart : pool_start)(session->pool, in->cuts.count, slice_run, session);
	if (sink->meanwhile)
		sink->meanwhile(sink->context);
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

static void batch_finish(struct session *session)
{
	struct session_internal *in = session->internal;
	if (!in->runs)
		return;
	pool_finish(session->pool);
	in->runs = false;
	if (in->sink->batch_end)
		in->sink->batch_end(in->sink->context, session, in->cuts.count);
	if (in->pause && is_time(&in->pause_time_ns))
		in->pause(in->progress_context);
}

/* Waits for the slices of the last part, of a batch with a trace. The model, and what else they use, may change then. */
static void part_finish(void *context)
{
	struct session *session = context;
	if (!session->internal->runs)
		return;
	batch_finish(session);
	trace_release(session->trace);
	model_begin(session);
}

/* Starts the slices of a part. The next one is made in another array meanwhile, if that is possible. */
static void batch_end_part(struct session *session)
{
	struct session_internal *in = session->internal;
	part_finish(session);
	batch_start(session);
	trace_hand_over(session->trace);
	if (in->runs && makes_ahead(session)) {
		in->batch = in->spare;
		in->spare = in->running;
		in->batch.count = 0;
		return;
	}
	batch_finish(session);
	in->batch.count = 0;
	trace_release(session->trace);
	model_begin(session);
}

/* Whether a record leaves the model as it is: slices may run while it is applied. */
static bool spares_model(const struct session *session, const struct entry *entry)
{
	if (entry->time >= session->internal->jit.next_ns)
		return false;
	switch (load_u32(entry->body - 8)) {
	case RECORD_SAMPLE:
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
	case RECORD_AUX:
	case RECORD_ITRACE_START:
		return true;
	default:
		return false;
	}
}

/* Adds the samples of the trace that are older than `until`. */
static void batch_add_trace(struct session *session, uint64_t until)
{
	struct session_internal *in = session->internal;
	while (trace_advance(session->trace, &session->model, until, in->batch_clock + in->batch.count, TRACE_RECORDS, &in->batch))
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
		const struct record record = entry_record(entry);
		if (entry->time != UINT64_MAX && entry->time)
			do
				batch_add_trace(session, entry->time);
			while (trace_thread_ends(session->trace, &record));
		if (!spares_model(session, entry))
			part_finish(session);
		apply_entry(session, entry, in->batch_clock + in->batch.count);
		vec_push(&in->batch, trace_complete(session->trace, entry));
		if (in->batch.count >= TRACE_RECORDS)
			batch_end_part(session);
	}
	batch_end_part(session);
	part_finish(session);
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
	batch_start(session);
	if (!reads_ahead(session))
		batch_finish(session);
}

/* Whether half of the model is of ended processes and replaced mappings. */
static bool has_past(const struct model *model)
{
	return model->ended >= model->threads.count / 2 || model->superseded >= model->arena.bytes / 2;
}

/* A new generation is made beside the old one: of a model that lives it would only take memory. */
static void drop_past(struct session *session)
{
	struct session_internal *in = session->internal;
	bool renews = has_past(&session->model);
	if (renews)
		session_renew(session, &(struct model_renewal){ 0 });
	for (unsigned i = 0; i < session_workers(session); i++) {
		if (!renews)
			worker_drop_points(in->workers[i]);
		in->sink->forget(in->sink->context, i);
	}
	if (renews)
		in->renewed_growth = model_growth(&session->model);
}

/* Not if something else than the sink refers to threads. */
static bool drops_past(const struct session *session)
{
	return session->internal->sink->forget && !session->stitch && !session->trace;
}

/* A stream needs what lives, not what was: when half of the model is of the past, the living begin a new generation. */
static void renew_stream(struct session *session)
{
	struct session_internal *in = session->internal;
	struct model *model = &session->model;
	if (!drops_past(session) || model_growth(model) < 2 * in->renewed_growth + STREAM_ROOM)
		return;
	if (has_past(model))
		drop_past(session);
}

/* What is in use now, and what aggregating sinks take at the end to merge and order it. */
static size_t needed_memory(const struct session *session)
{
	const struct session_internal *in = session->internal;
	size_t used = memory_in_use(), own = session_growth(session) + in->order.taken;
	if (in->sink->ahead)
		return used + in->sink->ahead(in->sink->context);
	return own + (used > own ? used - own : 0) * (in->sink->forget ? 1 : END_SHARE);
}

/* The next records may take as much as those since the last check. */
static void check_room(struct session *session)
{
	struct session_internal *in = session->internal;
	in->unchecked_bytes += in->batch_bytes;
	if (!in->bounded || in->full || in->unchecked_bytes < budget_limit(in->budget) / ROOM_SHARE)
		return;
	in->unchecked_bytes = 0;
	size_t needed = needed_memory(session), more = needed > in->needed ? needed - in->needed : 0;
	in->needed = needed;
	in->full = needed + more > budget_limit(in->budget);
	if (in->full && drops_past(session)) {
		drop_past(session);
		in->needed = needed_memory(session);
		in->full = in->needed > budget_limit(in->budget) / 8 * 7;
	}
}

/* Processes the batch; `waiting`: except for the first sample that waits for its chain, and the records after it. */
static void batch_run_to(struct session *session, bool waiting)
{
	struct session_internal *in = session->internal;
	size_t count = in->batch.count, due = count;
	if (in->deferred.wanted && waiting)
		due = deferred_due(&in->deferred, count, in->batch_bytes < PATIENCE_BYTES ? PATIENCE_RECORDS : 0);
	in->batch.count = due;
	batch_finish(session);
	check_room(session);
	source_release_used(session->source, in->mark, in->batch_bytes - in->held_bytes);
	if (due) {
		renew_stream(session);
		batch_process(session);
	}
	if (in->runs) { /* the next batch begins in the other array */
		in->batch = in->spare;
		in->spare = in->running;
		in->batch.count = due = count = 0;
	}
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
	if (!in->runs)
		source_release(session->source, in->mark);
}

static void batch_run(struct session *session)
{
	batch_run_to(session, true);
}

/* The worker of a plain sink looks up in the model as it is now. */
static void plain_model_changed(struct session *session, uint64_t clock)
{
	struct worker *worker = session->internal->workers[0];
	worker->epoch = session->internal->epoch + session->internal->changes.count;
	worker->kernel_root = model_kernel_root(&session->model, clock);
}

static void begin_plain(struct session *session)
{
	struct session_internal *in = session->internal;
	in->plain_ready = in->combines = true;
	events_refresh(in, session_evlist(session));
	model_begin(session);
	plain_model_changed(session, in->batch_clock);
	plain_begin(&in->plain_sink, in->sink, session, in->workers[0]);
}

/* A record behind the limit of memory. It was read, so that its bytes are released like those of records that are used. */
static void leave_out(struct session *session, const struct entry *entry)
{
	struct session_internal *in = session->internal;
	session->counters.left_out_samples += load_u32(entry->body - 8) == RECORD_SAMPLE;
	in->batch_bytes += entry_size(entry);
	if (in->batch_bytes - in->held_bytes >= in->batch_most)
		batch_run(session);
}

/* A record of a plain sink: applied to the model and passed at once. */
static void deliver_plain(void *context, const struct entry *entry)
{
	struct session *session = context;
	struct session_internal *in = session->internal;
	struct record record = entry_record(entry);
	bool is_sample = record.type == RECORD_SAMPLE;
	uint32_t event = is_sample ? plain_event(&in->plain_sink, &record) : UINT32_MAX;
	if (is_sample && event == UINT32_MAX)
		return; /* it was passed over */
	uint64_t clock = in->batch_clock++;
	if (__builtin_expect(in->full, 0)) {
		leave_out(session, entry);
		return;
	}
	if (!is_sample || entry->time >= in->jit.next_ns || session->model.edit) {
		apply_entry(session, entry, clock);
		plain_model_changed(session, clock);
	}
	if (is_sample || in->sink->want_records)
		plain_pass(&in->plain_sink, in->sink, &record, event, clock);
	in->batch_bytes += record.body_len;
	if (clock % PLAIN_RECORDS)
		return;
	batch_run(session); /* releases the bytes that were read */
	worker_begin_slice(in->workers[0]);
}

static void deliver(void *context, const struct entry *entry)
{
	struct session *session = context;
	struct session_internal *in = session->internal;
	if (__builtin_expect(in->full, 0)) {
		leave_out(session, entry);
		return;
	}
	if (__builtin_expect(in->deferred.wanted, 0)) {
		struct record record = entry_record(entry);
		if (record.type == RECORD_SAMPLE || record.type == RECORD_CALLCHAIN_DEFERRED)
			deferred_note(&in->deferred, session_evlist(session), &record, in->batch.count);
	}
	vec_push(&in->batch, *entry);
	in->batch_bytes += entry_size(entry);
	if (in->batch.count - in->held >= BATCH_RECORDS || in->batch_bytes - in->held_bytes >= in->batch_most)
		batch_run(session);
}

/* Checks a record in the order of the file. */
static void pass_record(struct session *session, const struct record *record)
{
	struct session_internal *in = session->internal;
	if (record->type == RECORD_SAMPLE)
		sample_check(session, &in->workers[0]->tally, record, evlist_event_of(session_evlist(session), record));
	else if (record->type < RECORD_USER_TYPE_START)
		apply_side_band(session, record, 0);
	in->batch_bytes += record->body_len;
	if (in->batch_bytes - in->held_bytes >= BATCH_BYTES)
		batch_run(session); /* releases the bytes that were read */
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
	order_flush(&in->order, true, in->deliver, session);
	batch_run_to(session, false);
	budget_hurry(in->budget);
	order_settle(&in->order, in->budget);
}

static void session_record(struct session *session, const struct record *record, uint64_t mark)
{
	struct session_internal *in = session->internal;
	const struct sink *sink = in->sink;
	if (record->type < RECORD_TYPE_MAX)
		session->counters.by_type[record->type]++;
	if (record->type == RECORD_TIME_CONV)
		time_conv_read(&in->jit.clock, record);
	if (record->type == RECORD_ID_INDEX)
		model_read_ids(&session->model, record);
	if (sink->raw)
		sink->raw(sink->context, session, record);
	if (sink->checks_only) {
		pass_record(session, record);
		return;
	}
	struct entry entry = { .time = UINT64_MAX, .offset = record->offset, .body = record->body };
	bool own = record->type >= RECORD_USER_TYPE_START;
	if (sink->plain && !in->plain_ready)
		begin_plain(session);
	in->plain_ready = in->plain_ready && !own;
	if (!own && !in->unordered) {
		events_refresh(in, session_evlist(session));
		entry.time = record_times_of(&in->times, session_evlist(session), record);
	}
	bool timed = entry.time != 0 && entry.time != UINT64_MAX;
	if (sink->plain && !own && !plain_wants(&in->plain_sink, record)) {
		if (timed)
			order_note(&in->order, entry.time);
	} else if (timed) {
		order_add_read(&in->order, &entry, &in->times, mark);
	} else if (!own || sink->want_records) {
		in->deliver(session, &entry);
	}
	if (record->type == RECORD_FINISHED_ROUND) {
		order_flush(&in->order, in->ordered_rounds, in->deliver, session);
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
	counters->jit_dumps = in->jit.dumps;
	counters->jit_untimed = in->jit.untimed;
}

void session_begin(struct session *session, const struct sink *sink)
{
	struct session_internal *in = session->internal;
	in->sink = sink;
	in->unordered = in->jit.unordered = sink->unordered || !record_times_side_band(&session->source->header);
	session->model.checks_only = sink->checks_only;
	in->deliver = sink->plain ? deliver_plain : deliver;
	session->source->roomy |= sink->plain;
	session->source->passing |= sink->checks_only;
	in->batch_most = BATCH_BYTES;
	in->batch_clock = 1; /* clock 0 is the state before the first record */
	if (session->trace)
		trace_before_pool(session->trace, part_finish, session);
	if (in->until_ns && !session_is_serial(session) && !sink->raw && !session->trace)
		source_set_window(session->source, in->from_ns, in->until_ns);
}

/* As session_record, for most samples of a plain sink. Returns false for the others. */
static inline bool take_plain_sample(struct session *session, const struct record *record, uint64_t mark)
{
	struct session_internal *in = session->internal;
	struct entry entry = { .time = record_time_from_front(record, in->times.front), .offset = record->offset, .body = record->body };
	if (!in->plain_ready || in->unordered || entry.time == 0 || entry.time == UINT64_MAX)
		return false;
	session->counters.by_type[RECORD_SAMPLE]++;
	if (plain_wants(&in->plain_sink, record))
		order_add_read(&in->order, &entry, &in->times, mark);
	else
		order_pass_over(&in->order, &entry, mark);
	return true;
}

/* The records of an earlier recording precede those of the next one, whose times may begin anew. */
static void begin_part(struct session *session)
{
	struct session_internal *in = session->internal;
	in->part = session->source->part;
	order_flush(&in->order, true, in->deliver, session);
	in->order.max_time = in->order.limit = in->order.delivered_time = 0;
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
	if (session->source->part != in->part)
		begin_part(session);
	session->counters.records++;
	if (record.type != RECORD_SAMPLE || !take_plain_sample(session, &record, mark))
		session_record(session, &record, mark);
	if (session->counters.records % CHECK_EVERY == 0) {
		if (in->progress)
			report_progress(session);
		if (in->pause && in->sink->plain && is_time(&in->pause_time_ns))
			in->pause(in->progress_context);
		if (in->budget)
			bound_waiting(session);
		if (in->full)
			batch_run(session); /* releases the bytes that were read */
	}
	return 1;
}

int session_take(struct session *session)
{
	int more;
	while ((more = read_record(session)) > 0)
		;
	batch_run(session);
	batch_finish(session);
	return more;
}

int session_end(struct session *session, struct error *err)
{
	struct session_internal *in = session->internal;
	order_flush(&in->order, true, in->deliver, session);
	batch_run_to(session, false);
	batch_finish(session);
	if (session->trace) {
		in->batch.count = 0;
		batch_add_trace(session, UINT64_MAX);
		batch_end_part(session);
		part_finish(session);
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
	struct session_internal *in = session->internal;
	in->bounded = in->budget != NULL;
	if (in->bounded && budget_limit(in->budget) / ROOM_SHARE < BATCH_BYTES)
		in->batch_most = budget_limit(in->budget) / ROOM_SHARE;
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

size_t session_limit(const struct session *session)
{
	return session->internal->bounded ? budget_limit(session->internal->budget) : SIZE_MAX;
}

size_t session_growth(const struct session *session)
{
	size_t bytes = model_growth(&session->model);
	for (unsigned i = 0; i < session_workers(session); i++)
		bytes += worker_growth(session->internal->workers[i]);
	return bytes;
}
