#include "record/call_times.h"

#include <string.h>

enum { THREADS_MAX = 1 << 16 }; /* all calls are forgotten beyond it: threads that ended are not known */

void call_times_fini(struct call_times *calls)
{
	idmap_fini(&calls->index);
	vec_fini(&calls->threads);
}

void call_times_clear(struct call_times *calls)
{
	call_times_fini(calls);
	*calls = (struct call_times){ 0 };
}

static struct thread_calls *calls_of(struct call_times *calls, uint32_t tid)
{
	bool added;
	if (calls->threads.count >= THREADS_MAX)
		call_times_clear(calls);
	uint32_t index = idmap_add(&calls->index, tid, (uint32_t)calls->threads.count, &added);
	if (added)
		vec_push(&calls->threads, (struct thread_calls){ 0 });
	return &calls->threads.items[index];
}

void call_times_enter(struct call_times *calls, uint32_t tid, uint64_t time)
{
	struct thread_calls *thread = calls_of(calls, tid);
	if (thread->depth == CALL_DEPTH)
		memmove(thread->entries, thread->entries + 1, --thread->depth * sizeof *thread->entries);
	thread->entries[thread->depth++] = time;
}

uint64_t call_times_return(struct call_times *calls, uint32_t tid, uint64_t time)
{
	struct thread_calls *thread = calls_of(calls, tid);
	return thread->depth ? time - thread->entries[--thread->depth] : 0;
}
