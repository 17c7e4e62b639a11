#include "turns/work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

static uint64_t cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Each round needs the result of the one before, so that the time of a round is the same whatever surrounds it. */
static void compute(uint64_t loops)
{
	uint64_t x = loops;
	for (uint64_t i = 0; i < loops; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
}

/* The fastest of several measurements: interruptions only make it slower. */
struct work_rate work_calibrate(void)
{
	enum { LOOPS = 200000, TIMES = 15 };
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < TIMES; i++) {
		uint64_t began = cpu_ns();
		compute(LOOPS);
		uint64_t took = cpu_ns() - began;
		if (took && took < best)
			best = took;
	}
	return (struct work_rate){ (double)LOOPS / (double)best };
}

void work_init(struct work *work, const struct turns_plan *plan, struct work_rate rate)
{
	*work = (struct work){ .loops = (uint64_t)((double)plan->work_ns * rate.loops_per_ns), .set_bytes = plan->set_bytes,
		.stride = plan->stride };
	if (plan->set_bytes) {
		work->set = memory_alloc(plan->set_bytes);
		memset(work->set, 1, plan->set_bytes); /* its page faults are not part of the measurement */
	}
}

void work_fini(struct work *work)
{
	free(work->set);
	*work = (struct work){ 0 };
}

void work_do(struct work *work)
{
	if (work->loops)
		compute(work->loops);
	for (uint64_t at = 0; at < work->set_bytes; at += work->stride)
		((volatile char *)work->set)[at]++;
}
