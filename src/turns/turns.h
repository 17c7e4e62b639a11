/* Threads that pass turns to each other: what a switch between them costs, by the way in which they wait, and what the same work costs
 * in one thread that does not wait. A turn is: receive, work, touch memory, send. Two ends of a pair exchange messages; in the ways
 * without a partner (yield, sleep) each thread of its own takes turns.
 *
 * The models of one thread wait for all ends at once (epoll, io_uring), or do not wait (coroutines: the same exchange by switches in user
 * mode). */
#pragma once
#include "turns/plan.h"

/* Called by the thread of turns_run immediately before and after what the result counts. */
struct turns_meter {
	void *context;
	void (*begin)(void *context), (*end)(void *context);
};

/* Runs the plan to its end, on the CPUs of the calling thread. meter: NULL, or one whose end follows each begin. */
int turns_run(const struct turns_plan *plan, const struct turns_meter *meter, struct turns_result *result, struct error *err);
