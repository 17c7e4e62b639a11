/* How long calls of a function take, from its entries and returns by thread, in the order of time. Pure. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

enum { CALL_DEPTH = 64 }; /* of recursion: entries without a return (longjmp) are forgotten beyond it */

struct thread_calls {
	uint64_t entries[CALL_DEPTH];
	unsigned depth;
};

struct call_times {
	struct idmap index;        /* thread → index of threads */
	VEC(struct thread_calls) threads;
};

void call_times_fini(struct call_times *calls); /* accepts a zeroed one */
/* Forgets all calls: entries or returns were lost. */
void call_times_clear(struct call_times *calls);
void call_times_enter(struct call_times *calls, uint32_t tid, uint64_t time);
/* How long the call took that ends; 0: its entry is unknown. */
uint64_t call_times_return(struct call_times *calls, uint32_t tid, uint64_t time);
