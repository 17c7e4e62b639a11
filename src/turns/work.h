/* What an end does at each turn besides the exchange: computes for a given time, and touches memory. */
#pragma once
#include "turns/plan.h"

/* The CPU time of computing, found by a measurement of a few ms. */
struct work_rate {
	double loops_per_ns;
};

struct work {
	uint64_t loops;
	char *set;
	uint64_t set_bytes;
	uint32_t stride;
};

struct work_rate work_calibrate(void);
void work_init(struct work *work, const struct turns_plan *plan, struct work_rate rate);
void work_fini(struct work *work);
void work_do(struct work *work);
