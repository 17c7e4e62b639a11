#include "session/plain.h"

enum { TURNS = INT32_MAX };

void plain_fini(struct plain *plain)
{
	vec_fini(&plain->answers);
}

bool plain_ask(const struct plain *plain, uint32_t event)
{
	bool wanted = !plain->sink->wants_event || plain->sink->wants_event(plain->sink->context, event);
	plain->answers.items[event] = plain->turn << 1 | wanted;
	return wanted;
}

void plain_begin(struct plain *plain, const struct sink *sink, struct session *session, struct worker *worker)
{
	size_t count = session_evlist(session)->events.count;
	if (sink->batch_begin)
		sink->batch_begin(sink->context, session, 1);
	plain->sink = sink;
	plain->turn = plain->turn % TURNS + 1;
	while (plain->answers.count < count)
		vec_push(&plain->answers, 0);
	plain->single = count == 1;
	plain->resolved = (struct resolved){ .session = session, .worker = worker, .sample = &plain->sample, .thread = THREAD_NONE,
		.comm = COMM_NONE };
}
