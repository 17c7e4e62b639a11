#include "analysis/timechart/lane.h"

#include <stdlib.h>

enum { FIRST_GRAIN_NS = 1024 };

void lane_fini(struct lane *lane)
{
	vec_fini(&lane->bars);
}

static bool is_short(const struct lane *lane, const struct lane_bar *bar)
{
	return bar->kind == LANE_MIXED || bar->to - bar->from < lane->grain;
}

/* Both bars are one if they touch and say the same, or if both are short and begin in one grain. */
static bool join(const struct lane *lane, struct lane_bar *last, const struct lane_bar *bar)
{
	if (last->to == bar->from && last->kind == bar->kind && last->about == bar->about && bar->kind != LANE_MIXED) {
		last->to = bar->to;
		return true;
	}
	if (!lane->grain || last->from / lane->grain != bar->from / lane->grain || !is_short(lane, last) || !is_short(lane, bar))
		return false;
	for (unsigned kind = 0; kind < LANE_KINDS; kind++)
		last->parts[kind] = (float)(lane_bar_part(last, kind) + lane_bar_part(bar, kind));
	last->kind = LANE_MIXED;
	last->to = bar->to;
	if (last->about != bar->about)
		last->about = LANE_SEVERAL;
	return true;
}

void lane_coarsen(struct lane *lane, uint64_t grain)
{
	if (grain <= lane->grain)
		return;
	lane->grain = grain;
	size_t count = 0;
	for (size_t i = 0; i < lane->bars.count; i++) {
		const struct lane_bar bar = lane->bars.items[i];
		if (!count || !join(lane, &lane->bars.items[count - 1], &bar))
			lane->bars.items[count++] = bar;
	}
	lane->bars.count = count;
}

void lane_add(struct lane *lane, uint64_t from, uint64_t to, unsigned kind, uint32_t about)
{
	struct lane_bar *last = lane->bars.count ? &lane->bars.items[lane->bars.count - 1] : NULL;
	if (last && from < last->to)
		from = last->to;
	if (to <= from)
		return;
	const struct lane_bar bar = { .from = from, .to = to, .kind = (uint8_t)kind, .about = about };
	lane->total[kind] += to - from;
	if (last && join(lane, last, &bar))
		return;
	vec_push(&lane->bars, bar);
	while (lane->bars.count > LANE_BARS_MAX || (lane->bars.count == LANE_BARS_MAX && !lane->grain))
		lane_coarsen(lane, lane->grain ? 2 * lane->grain : FIRST_GRAIN_NS);
}
