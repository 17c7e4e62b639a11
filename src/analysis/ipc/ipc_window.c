#include "analysis/ipc/ipc_window.h"

#include <math.h>

#include "base/search.h"
#include "base/whole.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How many of the cycles [from, to] are in [low, high]. */
static uint64_t cycles_within(uint64_t from, uint64_t to, uint64_t low, uint64_t high)
{
	from = from > low ? from : low;
	to = smaller(to, high);
	return from <= to ? to - from + 1 : 0;
}

/* The cycles that surely belong to a window: without those of its edges, except at the ends of the track. With a threshold of cycle
 * packets, its last instructions may retire behind its end. */
struct sure {
	uint64_t low, high;
};

enum part { PART_OUTSIDE, PART_INTERIOR, PART_LEADING, PART_TRAILING };

/* On the axis, a window is (from, to]; a range without cycles belongs to the window that its cycle ends. */
static enum part part_of(const struct ipc_range *range, const struct ipc_window *window)
{
	uint64_t from = range->from_cycle, to = range->to_cycle;
	bool starts_within = from >= window->from_cycle, ends_within = to <= window->to_cycle;
	if (from == to)
		return ends_within && (from > window->from_cycle || !window->from_cycle) ? PART_INTERIOR : PART_OUTSIDE;
	if (to <= window->from_cycle || from >= window->to_cycle)
		return PART_OUTSIDE;
	return starts_within && ends_within ? PART_INTERIOR : starts_within ? PART_TRAILING : PART_LEADING;
}

/* A range at an edge. slack: of its track. */
static void add_cut(const struct ipc_range *range, const struct sure *sure, uint32_t slack, unsigned width, struct ipc_window *window)
{
	uint64_t length = range->to_cycle - range->from_cycle + 1, n = range->instructions, end = range->to_cycle + slack;
	uint64_t outside = length + slack - cycles_within(range->from_cycle, end, sure->low, sure->high);
	uint64_t inside = cycles_within(range->from_cycle, end, window->from_cycle, window->to_cycle);
	window->least += outside >= UINT32_MAX || outside * width >= n ? 0 : n - outside * width;
	window->most += inside >= UINT32_MAX ? n : smaller(n, inside * width);
	enum part part = part_of(range, window);
	if (part == PART_OUTSIDE)
		return;
	uint64_t *sum = part == PART_INTERIOR ? &window->interior : part == PART_LEADING ? &window->leading : &window->trailing;
	*sum += n;
	window->gap |= range->gap;
	window->longest = length - 1 > window->longest ? length - 1 : window->longest;
}

/* Longest of the ranges [first, end). */
static void add_longest(const struct ipc_track *track, size_t first, size_t end, struct ipc_window *window)
{
	for (size_t i = first; i < end; i++) {
		const struct ipc_range *range = &track->ranges.items[i];
		if (range->to_cycle - range->from_cycle > window->longest)
			window->longest = range->to_cycle - range->from_cycle;
	}
}

/* The first range that starts at a cycle or later. */
static size_t range_from(const struct ipc_track *track, uint64_t cycle)
{
	return SEARCH_COUNT(track->ranges.count, i, track->ranges.items[i].from_cycle < cycle);
}

void ipc_window_at(const struct ipc_track *track, uint64_t from, uint64_t to, unsigned width, struct ipc_window *window)
{
	*window = (struct ipc_window){ .from_cycle = from, .to_cycle = to, .from_ns = ipc_track_ns(track, from, true),
		.to_ns = ipc_track_ns(track, to, false) };
	const struct ipc_range *ranges = track->ranges.items;
	const uint32_t slack = track->slack;
	const struct sure sure = { from ? from + 1 : 0, to >= track->cycles && !slack ? UINT64_MAX - 1 : to - 1 };
	/* ranges [first, last) are surely in it; of those that start before, or end behind, only few touch it */
	size_t first = range_from(track, sure.low), last = sure.high < slack ? 0 : ipc_track_at(track, sure.high + 1 - slack);
	size_t begin = ipc_track_at(track, from > slack ? from - slack : 0), end = range_from(track, to + 1);
	for (size_t i = begin; i < end && i < first; i++)
		add_cut(&ranges[i], &sure, slack, width, window);
	if (first < last) {
		uint64_t whole = ranges[last - 1].before + ranges[last - 1].instructions - ranges[first].before;
		window->interior += whole;
		window->least += whole;
		window->most += whole;
		window->gap |= ranges[last - 1].gaps + ranges[last - 1].gap > ranges[first].gaps;
		add_longest(track, first, last, window);
	}
	for (size_t i = last > first ? last : first; i < end; i++)
		add_cut(&ranges[i], &sure, slack, width, window);
	if (track->tail && to >= track->cycles)
		window->most += width;
	double low = ipc_track_instructions(track, from), high = ipc_track_instructions(track, to);
	window->linear = high - low;
	window->instructions = whole_near(high) - whole_near(low);
	if (!width) {
		window->least = window->interior;
		window->most = window->interior + window->leading + window->trailing;
	}
}

bool ipc_window_uncertain(const struct ipc_window *window)
{
	enum { OF_TRUE = 50 };
	double least = (double)window->least, most = (double)window->most;
	return (window->linear - least) * OF_TRUE > least || (most - window->linear) * OF_TRUE > most;
}

static void add_window(struct ipc_windows *windows, const struct ipc_track *track, uint64_t from, uint64_t to, unsigned width)
{
	if (from >= to)
		return;
	struct ipc_window *window = vec_add(&windows->list);
	ipc_window_at(track, from, to, width, window);
}

/* A window in time has the cycles of that time. */
static void windows_by_time(struct ipc_windows *windows, const struct ipc_track *track, const struct ipc_grid *grid)
{
	uint64_t first = track->ranges.items[0].from_ns, last = track->ranges.items[track->ranges.count - 1].to_ns;
	for (uint64_t from = first; from < last; from += grid->step.count) {
		if (windows->list.count == IPC_WINDOWS_MAX) {
			windows->truncated = true;
			return;
		}
		uint64_t to = grid->window.count < last - from ? from + grid->window.count : last;
		uint64_t from_cycle = from == first ? 0 : ipc_track_cycle(track, from);
		uint64_t to_cycle = to == last ? track->cycles : ipc_track_cycle(track, to);
		if (from_cycle == to_cycle) { /* windows that end before the next cycle have none either */
			uint64_t next = ipc_track_ns(track, from_cycle + 1, false);
			if (next > to)
				from += (next - 1 - to) / grid->step.count * grid->step.count;
		}
		if (from_cycle < to_cycle) {
			add_window(windows, track, from_cycle, to_cycle, grid->width);
			struct ipc_window *window = &windows->list.items[windows->list.count - 1];
			window->from_ns = from;
			window->to_ns = to;
		}
		if (last - from <= grid->step.count)
			break;
	}
}

void ipc_windows_make(struct ipc_windows *windows, const struct ipc_track *track, const struct ipc_grid *grid)
{
	if (!track->ranges.count || !grid->window.count || !grid->step.count)
		return;
	if (grid->window.ns) {
		windows_by_time(windows, track, grid);
		return;
	}
	for (uint64_t from = 0; from < track->cycles; from += grid->step.count) {
		if (windows->list.count == IPC_WINDOWS_MAX) {
			windows->truncated = true;
			break;
		}
		uint64_t rest = track->cycles - from;
		add_window(windows, track, from, grid->window.count < rest ? from + grid->window.count : track->cycles, grid->width);
		if (rest <= grid->step.count || (grid->step.count < grid->window.count && rest <= grid->window.count))
			break;
	}
}
