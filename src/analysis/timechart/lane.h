/* Bars of one lane of a timechart, in order of time. Bars shorter than the lane's grain share one bar with others that begin in the same
 * grain; it has the time of each kind. So a lane needs bounded memory, and no time is added or dropped. Knows no task and no picture. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum { LANE_KINDS = 4, LANE_MIXED = LANE_KINDS, LANE_BARS_MAX = 8192 };

#define LANE_SEVERAL 0xffffffffu

struct lane_bar {
	uint64_t from, to;         /* ns */
	uint32_t about;            /* what the caller gave; LANE_SEVERAL: different values */
	uint8_t kind;              /* below LANE_KINDS, or LANE_MIXED */
	float parts[LANE_KINDS];   /* LANE_MIXED: ns of each kind */
};

struct lane {
	VEC(struct lane_bar) bars;
	uint64_t grain;            /* ns; 0: none yet */
	uint64_t total[LANE_KINDS]; /* ns */
};

void lane_fini(struct lane *lane);
/* Bars are added in order; the part of a bar before the end of the last one is ignored. */
void lane_add(struct lane *lane, uint64_t from, uint64_t to, unsigned kind, uint32_t about);
/* Joins bars until the grain is at least this long. */
void lane_coarsen(struct lane *lane, uint64_t grain);
/* ns of one kind in a bar. */
static inline double lane_bar_part(const struct lane_bar *bar, unsigned kind)
{
	return bar->kind == LANE_MIXED ? (double)bar->parts[kind] : bar->kind == kind ? (double)(bar->to - bar->from) : 0;
}
