/* A session over a running measurement: records of the rings become resolved samples in a sink, in one process and without a file. The
 * caller owns the loop: each step waits, then delivers what has arrived.
 *
 * Order of calls: live_session_open; live_session_begin with the sink; live_session_step until it returns 0; live_session_end;
 * live_session_close, which is due on every path, also if live_session_open failed. Between two steps nothing waits inside the session:
 * there the caller may show results and begin a new generation (live_session_renew).
 * Records wait in the rings while the caller is busy; if these are full, the kernel drops further ones: live_session_lost.
 * Threads: one. From open to close, signals that would end the process end the measurement instead (live_session_signal). Knows no column
 * and no output. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "record/acquire/acquisition.h"
#include "session/session.h"

struct live_session_options {
	struct acquisition_options acquisition;
	struct session_options session;  /* threads, ordered_rounds and keep_exited are set here: names outlive their threads */
};

/* Must not move while it is open. */
struct live_session {
	struct acquisition *acquisition; /* NULL: not open */
	struct source *source;           /* owned by the session */
	struct session session;
	size_t base_growth;              /* session_growth when the generation began */
};

/* Opens the events; a command waits for the first step. */
int live_session_open(struct live_session *live, const struct live_session_options *options, struct error *err);
void live_session_close(struct live_session *live);

/* sink: borrowed until live_session_end. The first step makes the records about what already runs, and starts the measurement. */
void live_session_begin(struct live_session *live, const struct sink *sink);
/* Waits for records, a watched descriptor or the end, at most timeout_ms, and passes what has arrived to the sink. *ready: bits of
 * live_session_watch whose descriptors can be read. 1: more may come; 0: the target has ended or a signal arrived; < 0: *err. */
int live_session_step(struct live_session *live, int timeout_ms, uint32_t *ready, struct error *err);
/* Enables the events of a measurement with a delay. */
void live_session_enable(struct live_session *live);
/* Delivers the rest. */
int live_session_end(struct live_session *live, struct error *err);
int live_session_watch(struct live_session *live, int fd, unsigned bit, struct error *err);
void live_session_unwatch(struct live_session *live, int fd);

/* Whether the history of ended processes has become large enough for a new generation. */
bool live_session_is_grown(const struct live_session *live);
/* Begins one: see session_renew. renewal: held, threads and previous are the caller's; the rest is set here. */
void live_session_renew(struct live_session *live, struct model_renewal *renewal);

/* Samples that found no room in the rings so far. */
uint64_t live_session_lost(const struct live_session *live);
/* The signal that ended the measurement; 0: none. */
int live_session_signal(const struct live_session *live);
