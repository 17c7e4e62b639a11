#include "live/live_session.h"

#include "live/source.h"
#include "os/process.h"

enum { ROOM = 2 << 20 }; /* by which a generation may grow, beside its own size */

int live_session_open(struct live_session *live, const struct live_session_options *options, struct error *err)
{
	struct session_options session = options->session;
	*live = (struct live_session){ 0 };
	if (acquisition_open(&live->acquisition, &options->acquisition, err) < 0) {
		live->acquisition = NULL;
		return -1;
	}
	session.threads = 1;
	session.ordered_rounds = session.keep_exited = true;
	source_open_stepwise(&live->source, live->acquisition);
	if (session_open(&live->session, live->source, &session, err) < 0)
		return -1;
	live->session.model.outlives_leader = live->session.model.clears_at_exec = true;
	return 0;
}

void live_session_close(struct live_session *live)
{
	if (live->session.source)
		session_close(&live->session);
	acquisition_close(live->acquisition);
	*live = (struct live_session){ 0 };
}

void live_session_begin(struct live_session *live, const struct sink *sink)
{
	session_begin(&live->session, sink);
}

int live_session_step(struct live_session *live, int timeout_ms, uint32_t *ready, struct error *err)
{
	int status = source_wait(live->source, timeout_ms, ready, err);
	if (session_take(&live->session) < 0) {
		*err = live->session.error;
		return -1;
	}
	return status;
}

void live_session_enable(struct live_session *live)
{
	acquisition_enable(live->acquisition);
}

int live_session_end(struct live_session *live, struct error *err)
{
	return session_end(&live->session, err);
}

int live_session_watch(struct live_session *live, int fd, unsigned bit, struct error *err)
{
	return acquisition_watch(live->acquisition, fd, bit, err);
}

void live_session_unwatch(struct live_session *live, int fd)
{
	acquisition_unwatch(live->acquisition, fd);
}

bool live_session_is_grown(const struct live_session *live)
{
	return session_growth(&live->session) > 2 * live->base_growth + ROOM;
}

/* A record of an exit can be lost. */
static bool thread_ended(void *context, const struct thread *thread)
{
	(void)context;
	return thread->tid > 0 && !task_lives(thread->pid, thread->tid);
}

void live_session_renew(struct live_session *live, struct model_renewal *renewal)
{
	renewal->has_ended = thread_ended;
	session_renew(&live->session, renewal);
	live->base_growth = session_growth(&live->session);
}

uint64_t live_session_lost(const struct live_session *live)
{
	return acquisition_lost(live->acquisition);
}

int live_session_signal(const struct live_session *live)
{
	return acquisition_signal(live->acquisition);
}
