/* One function for each model of turns.h; they run a checked plan and add to the result's turns and latencies. */
#pragma once
#include "turns/channel.h"
#include "turns/work.h"

struct turns_run {
	const struct turns_plan *plan;
	struct work_rate rate;
	struct turns_result *result;
	uint64_t began_ns; /* set by the model when all ends are ready */
};

int turns_threads(struct turns_run *run, struct error *err);
int turns_epoll(struct turns_run *run, struct error *err);
int turns_uring(struct turns_run *run, struct error *err);
int turns_coroutines(struct turns_run *run, struct error *err);
