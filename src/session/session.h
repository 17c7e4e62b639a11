/* source → model → resolved samples → sink. Orders records for delivery (by time within FINISHED_ROUND windows, as perf), applies side-band
 * to the model, and passes samples to the sink in batches that workers process in parallel. Knows no option, no symbol, no output. */
#pragma once
#include "session/resolved.h"
#include "session/sink.h"
#include "session/state.h"

/* Takes ownership of the source and closes it. */
int session_open(struct session *session, struct source *source, const struct session_options *options, struct error *err);
void session_close(struct session *session);

/* Reads all records and passes them to the sink. 0: complete; < 0: *err describes why and where reading stopped; all records before that
 * point were delivered. */
int session_run(struct session *session, const struct sink *sink, struct error *err);

unsigned session_workers(const struct session *session);
