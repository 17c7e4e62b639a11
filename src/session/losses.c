#include "session/losses.h"

#include "data/feature.h"

void losses_count(struct session_counters *counters, const struct record *record)
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

void losses_of_source(struct losses *losses, const struct source *source, const struct error *stop)
{
	const struct header *header = &source->header;
	*losses = (struct losses){
		.unfinished = header->interrupted, .bad_records = source->counters.bad_records,
		.unknown_types = source->counters.unknown_types, .bad_attrs = header->bad_attrs, .bad_build_ids = header->bad_build_ids,
		.features = features_damaged(header), .left_out_events = header->left_out_events,
	};
	if (stop)
		losses->stop = *stop;
}

void losses_of_session(struct losses *losses, const struct session *session)
{
	const struct session_counters *counters = &session->counters;
	losses_of_source(losses, session->source, &session->error);
	losses->samples = counters->samples;
	losses->bad_samples = counters->bad_samples;
	*(losses->left_out_events ? &losses->left_out_event_samples : &losses->unknown_ids) = counters->unknown_ids;
	losses->bad_records += counters->bad_records + session->model.bad_records;
	losses->bad_offset = counters->bad_offset;
	losses->bad_type = counters->bad_type;
	losses->left_out_maps = session->model.left_out;
	losses->left_out_samples = counters->left_out_samples;
	losses->left_out_chains = counters->left_out_chains;
	losses->lost_events = counters->lost_events;
	losses->lost_samples = counters->lost_samples;
	losses->lost_traces = counters->lost_traces;
	if (session->trace) {
		losses->trace = trace_losses(session->trace);
		losses->session = session;
	}
}

bool losses_are_damage(const struct losses *losses)
{
	return losses->stop.kind != ERROR_NONE || losses->unfinished || losses->bad_samples || losses->unknown_ids || losses->bad_records ||
		losses->bad_attrs || losses->bad_build_ids || losses->features;
}
