#include "session/slices.h"

#include "base/search.h"
#include "session/decode_record.h"
#include "session/internal.h"

static size_t first_change_after(const struct session_internal *in, uint64_t clock)
{
	return SEARCH_COUNT(in->changes.count, i, in->changes.items[i] <= clock);
}

/* Samples (and other records that the sink uses) that are resolved together. */
struct block {
	struct record records[BLOCK_RECORDS];
	struct sample samples[BLOCK_RECORDS];
	const struct sample_layout *filled[BLOCK_RECORDS]; /* by which each sample was decoded last; NULL: none */
	struct resolved resolved[BLOCK_RECORDS];
	uint64_t epochs[BLOCK_RECORDS];
	size_t count;
};

/* Whether the sample's location is found ahead, with those of its block. */
static bool is_located(const struct session_internal *in, const struct resolved *r)
{
	return r->sample->present & SAMPLE_IP && !(in->sink->late_places && r->evsel && r->evsel->decoded);
}

/* The first user entry of a call chain is the sample's own address, unless the kernel was running. */
static bool ip_is_located(const struct resolved *r)
{
	return r->located_count && r->located->address == r->sample->ip && record_cpumode(r->record) == RECORD_MISC_USER;
}

/* Each step prefetches what the next one reads. */
static void block_resolve(const struct session_internal *in, struct worker *worker, struct block *block)
{
	const struct model *model = &worker->session->model;
	for (size_t i = 0; i < block->count; i++)
		worker_resolve(worker, model, &block->resolved[i], block->epochs[i]);
	for (size_t i = 0; i < block->count; i++)
		if (block->resolved[i].user_space)
			cached_space_prefetch(block->resolved[i].user_space);
	callchains_locate(worker, block->resolved, block->count);
	for (size_t i = 0; i < block->count; i++) {
		struct resolved *r = &block->resolved[i];
		if (is_located(in, r) && ip_is_located(r))
			r->ip = r->located;
		else if (is_located(in, r))
			worker_prefetch(r, record_cpumode(r->record), r->sample->ip);
	}
}

static void block_finish(const struct session_internal *in, struct worker *worker, struct block *block, size_t slice)
{
	block_resolve(in, worker, block);
	for (size_t i = 0; i < block->count; i++) {
		struct resolved *r = &block->resolved[i];
		if (is_located(in, r) && !r->ip) {
			r->ip = resolved_ip(r);
			__builtin_prefetch(r->ip);
		}
	}
	for (size_t i = 0; i < block->count; i++)
		in->sink->record(in->sink->context, &block->resolved[i], slice);
	block->count = 0;
	worker_begin_block(worker);
}

/* Member by member, which is faster than to clear the whole; decoding and block_resolve set the others. */
static inline void resolved_init(struct resolved *r, struct session *session, struct worker *worker, const struct record *record,
	const struct sample *sample, uint64_t clock)
{
	r->session = session;
	r->worker = worker;
	r->record = record;
	r->sample = sample;
	r->clock = clock;
	r->guest = false;
	r->machine = NULL;
	r->kernel_root = worker->kernel_root;
	r->located = NULL;
	r->located_chain = NULL;
	r->located_from = r->located_count = 0;
	r->ip = NULL;
}

static bool wants_record(const struct sink *sink, uint32_t type)
{
	return type == RECORD_SAMPLE || (sink->want_records && (!sink->wants_type || sink->wants_type(sink->context, type)));
}

static void block_add(struct session *session, struct worker *worker, struct block *block, const struct entry *entry, uint64_t clock,
	size_t slice)
{
	const struct session_internal *in = session->internal;
	struct record *record = &block->records[block->count];
	*record = entry_record(entry);
	const struct sink *sink = in->sink;
	if (record->type == RECORD_SAMPLE && sink->skip_samples) {
		sample_check(session, &worker->tally, record, evlist_event_of(session_evlist(session), record));
		return;
	}
	if (!wants_record(sink, record->type))
		return;
	struct sample *sample = &block->samples[block->count];
	struct resolved *r = &block->resolved[block->count];
	resolved_init(r, session, worker, record, sample, clock);
	if (!resolved_decode(r, sample, &block->filled[block->count], &worker->tally))
		return;
	if (in->deferred.wanted)
		deferred_merge(&in->deferred, sample, &worker->merged); /* changes what parts have */
	worker_prefetch_thread(worker, r->tid);
	block->epochs[block->count] = worker->epoch;
	if (user_stack_is(r))
		user_stack_prefetch(sample);
	block->count++;
}

bool session_is_serial(const struct session *session)
{
	return session->internal->sink->serial || session->stitch || session->stack_memory;
}

void slice_run(void *context, size_t slice, unsigned index)
{
	struct session *session = context;
	struct session_internal *in = session->internal;
	struct worker *worker = in->workers[index];
	size_t from = in->cuts.items[slice], to = slice + 1 < in->cuts.count ? in->cuts.items[slice + 1] : in->running.count;
	uint64_t clock = in->running_clock + from;
	size_t change = first_change_after(in, clock);
	struct block block;
	block.count = 0; /* the other members but one are set before they are read */
	memset(block.filled, 0, sizeof block.filled);
	worker_begin_slice(worker);
	if (in->sink->forget && worker->points.count > STREAM_POINTS) {
		worker_drop_points(worker);
		in->sink->forget(in->sink->context, index);
	}
	worker->epoch = in->epoch + change;
	worker->kernel_root = model_kernel_root(&session->model, clock);
	for (size_t i = from; i < to; i++, clock++) {
		if (change < in->changes.count && in->changes.items[change] <= clock) {
			change++;
			worker->epoch++;
			worker->kernel_root = model_kernel_root(&session->model, clock);
		}
		block_add(session, worker, &block, &in->running.items[i], clock, slice);
		if (block.count == BLOCK_RECORDS)
			block_finish(in, worker, &block, slice);
	}
	block_finish(in, worker, &block, slice);
	if (in->sink->slice_end)
		in->sink->slice_end(in->sink->context, worker, slice);
}

void slices_cut(struct session *session)
{
	struct session_internal *in = session->internal;
	size_t records = SLICE_RECORDS, bytes = 0;
	vec_clear(&in->cuts);
	for (size_t i = 0; i < in->running.count; i++) {
		if (records >= SLICE_RECORDS || bytes >= SLICE_BYTES) {
			vec_push(&in->cuts, (uint32_t)i);
			records = bytes = 0;
			if (session_is_serial(session))
				return;
		}
		records++;
		bytes += entry_size(&in->running.items[i]);
	}
}
