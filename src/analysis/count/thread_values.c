#include "analysis/count/thread_values.h"

#include <stdlib.h>

#include "base/bytes.h"

void thread_values_fini(struct thread_values *values)
{
	for (size_t i = 0; i < values->threads.count; i++)
		free(values->threads.items[i].counts);
	vec_fini(&values->threads);
	vec_fini(&values->events);
	idmap_fini(&values->by_thread);
	idmap_fini(&values->by_event);
	*values = (struct thread_values){ 0 };
}

static void thread_values_grow(struct thread_values *values)
{
	size_t room = values->room ? values->room * 2 : 4;
	for (size_t i = 0; i < values->threads.count; i++) {
		struct thread_value *thread = &values->threads.items[i];
		thread->counts = memory_resize(thread->counts, room, sizeof *thread->counts);
		memset(thread->counts + values->room, 0, (room - values->room) * sizeof *thread->counts);
	}
	values->room = room;
}

void thread_values_add(struct thread_values *values, const struct resolved *r)
{
	struct cursor c = cursor_of(r->record->body, r->record->body_len, false);
	int32_t pid = (int32_t)take_u32(&c), tid = (int32_t)take_u32(&c);
	uint64_t count = take_u64(&c);
	bool added;
	if (c.short_read || !r->evsel)
		return;
	uint32_t event = idmap_add(&values->by_event, r->event, (uint32_t)values->events.count, &added);
	if (added)
		vec_push(&values->events, r->event);
	if (values->events.count > values->room)
		thread_values_grow(values);
	uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
	uint32_t thread = idmap_add(&values->by_thread, key, (uint32_t)values->threads.count, &added);
	if (added)
		vec_push(&values->threads, ((struct thread_value){ pid, tid, memory_zero(values->room, sizeof(uint64_t)) }));
	values->threads.items[thread].counts[event] += count;
}
