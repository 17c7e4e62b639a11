#include "session/plain.h"

void plain_fini(struct plain *plain)
{
	vec_fini(&plain->wanted);
}

void plain_begin(struct plain *plain, const struct sink *sink, struct session *session, struct worker *worker)
{
	if (sink->batch_begin)
		sink->batch_begin(sink->context, session, 1);
	vec_clear(&plain->wanted);
	for (uint32_t i = 0; i < session_evlist(session)->events.count; i++)
		vec_push(&plain->wanted, !sink->wants_event || sink->wants_event(sink->context, i));
	plain->single = plain->wanted.count == 1;
	plain->resolved = (struct resolved){ .session = session, .worker = worker, .sample = &plain->sample, .thread = THREAD_NONE,
		.comm = COMM_NONE };
}
