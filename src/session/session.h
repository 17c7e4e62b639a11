/* source → model → resolved samples → sink. Orders records for delivery (by time within FINISHED_ROUND windows, as perf), applies side-band
 * to the model, and passes samples to the sink in batches that workers process in parallel. Knows no option, no symbol, no output. */
#pragma once
#include "session/resolved.h"
#include "session/sink.h"
#include "session/state.h"

/* Takes ownership of the source and closes it. */
int session_open(struct session *session, struct source *source, const struct session_options *options, struct error *err);
void session_close(struct session *session);

/* Before it runs: only samples from `from` to `until` ns are needed (0: open). Others of a hardware trace are not decoded; those of a file
 * with an index may be skipped unless the sink needs them in order. */
void session_trace_window(struct session *session, uint64_t from, uint64_t until);
/* Reads all records and passes them to the sink. 0: complete; < 0: *err describes why and where reading stopped; all records before that
 * point were delivered. */
int session_run(struct session *session, const struct sink *sink, struct error *err);

/* The same in parts, for a source that runs (live/live_session.h): begin, take as often as there may be records, end. The sink is
 * borrowed until the end. */
void session_begin(struct session *session, const struct sink *sink);
/* Reads the records that the source has now (until source_next returns 0) and delivers those of finished rounds. < 0: session->error. */
int session_take(struct session *session);
/* Delivers the rest; returns as session_run. */
int session_end(struct session *session, struct error *err);

/* Begins a new generation (model_renew_held) between two session_take: what a sink stores about locations, threads and strings is
 * of the previous generation from here on. renewal->clock is set here. */
void session_renew(struct session *session, struct model_renewal *renewal);
/* Bytes that grow until a renewal frees them. */
size_t session_growth(const struct session *session);

/* The limit of the run's memory in bytes, to which a sink keeps at its end; SIZE_MAX: there is none. */
size_t session_limit(const struct session *session);

unsigned session_workers(const struct session *session);
