/* Passes records to a plain sink (sink.h): the fields that all of them share are set once. */
#pragma once
#include "session/decode_record.h"
#include "session/sink.h"

struct plain {
	struct resolved resolved;
	struct sample sample;
	const struct sink *sink;
	/* By event: whether the sink wants it (bit 0), and at which turn it said so: a stream that adds events one by one makes as many turns, at
	 * which only the events that have samples are asked for. */
	VEC(uint32_t) answers;
	uint32_t turn;       /* of plain_begin; not 0 */
	bool single;         /* there is one event: all samples are of it */
};

void plain_fini(struct plain *plain);
/* To be called before the first record, and when the header may have grown. */
void plain_begin(struct plain *plain, const struct sink *sink, struct session *session, struct worker *worker);

static inline uint32_t plain_event_of(const struct plain *plain, const struct record *record)
{
	return plain->single ? 0 : evlist_event_of_sample(session_evlist(plain->resolved.session), record);
}

bool plain_ask(const struct plain *plain, uint32_t event);

static inline bool plain_is_wanted(const struct plain *plain, uint32_t event)
{
	if (__builtin_expect(event >= plain->answers.count, 0))
		return false;
	uint32_t answer = plain->answers.items[event];
	return __builtin_expect(answer >> 1 == plain->turn, 1) ? answer & 1 : plain_ask(plain, event);
}

/* The event of a sample that the sink uses; UINT32_MAX: it does not use this one. */
static inline uint32_t plain_event(const struct plain *plain, const struct record *record)
{
	uint32_t event = plain_event_of(plain, record);
	return plain_is_wanted(plain, event) ? event : UINT32_MAX;
}

/* False: the sink does not use this record; a sample is then counted. */
static inline bool plain_wants(const struct plain *plain, const struct record *record)
{
	if (__builtin_expect(record->type != RECORD_SAMPLE, 0))
		return true;
	uint32_t event = plain_event_of(plain, record);
	if (plain_is_wanted(plain, event))
		return true;
	sample_check(plain->resolved.session, &plain->resolved.worker->tally, record, event);
	return false;
}

/* event: of a sample, which must be wanted. */
static inline void plain_pass(struct plain *plain, const struct sink *sink, const struct record *record, uint32_t event, uint64_t clock)
{
	struct resolved *r = &plain->resolved;
	struct worker_tally *tally = &r->worker->tally;
	r->record = record;
	r->clock = clock;
	if (record->type != RECORD_SAMPLE) {
		resolved_decode(r, &plain->sample, &(const struct sample_layout *){ NULL }, tally);
	} else {
		r->event = event;
		r->evsel = &session_evlist(r->session)->events.items[event];
		if (sample_decode_brief(&plain->sample, &r->evsel->layout, record, NULL) < 0) {
			tally->bad_samples++;
			return;
		}
		sample_count(tally, &plain->sample);
		r->pid = (int32_t)plain->sample.pid;
		r->tid = (int32_t)plain->sample.tid;
		r->kernel_root = r->worker->kernel_root;
		if (sink->spaces)
			worker_resolve(r->worker, &r->session->model, r, r->worker->epoch);
	}
	sink->record(sink->context, r, 0);
}
