/* A record's event and sample, decoded and counted, before anything is looked up. */
#pragma once
#include "session/resolved.h"
#include "session/state.h"
#include "session/worker.h"

static inline void sample_count(struct worker_tally *tally, const struct sample *sample)
{
	tally->samples++;
	if (sample->time == UINT64_MAX)
		return;
	if (sample->time < tally->first_time)
		tally->first_time = sample->time;
	if (sample->time > tally->last_time)
		tally->last_time = sample->time;
}

/* Decodes r->record of r->session; false if that fails. *before: as in sample_decode_again, for the next one. */
static inline bool resolved_decode(struct resolved *r, struct sample *sample, const struct sample_layout **before,
	struct worker_tally *tally)
{
	static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
	const struct evlist *evlist = session_evlist(r->session);
	const struct sample_layout *filled = *before;
	*before = NULL;
	bool is_sample = r->record->type == RECORD_SAMPLE, own = r->record->type >= RECORD_USER_TYPE_START;
	r->event = own ? UINT32_MAX : evlist_event_of(evlist, r->record);
	r->evsel = r->event == UINT32_MAX ? NULL : &evlist->events.items[r->event];
	if (!is_sample) {
		sample_decode_trailer(sample, r->evsel ? &r->evsel->layout : &none, r->record);
	} else if (!r->evsel) {
		tally->unknown_ids++;
		return false;
	} else if (sample_decode_again(sample, &r->evsel->layout, filled, r->record, NULL) < 0) {
		tally->bad_samples++;
		return false;
	} else {
		*before = &r->evsel->layout;
		sample_count(tally, sample);
	}
	r->pid = (int32_t)sample->pid;
	r->tid = (int32_t)sample->tid;
	return true;
}

/* Checks a sample that the sink skips. event: UINT32_MAX if unknown. */
static inline void sample_check(const struct session *session, struct worker_tally *tally, const struct record *record, uint32_t event)
{
	if (event == UINT32_MAX)
		tally->unknown_ids++;
	else if (sample_is_whole(&session_evlist(session)->events.items[event].layout, record))
		tally->samples++;
	else
		tally->bad_samples++;
}
