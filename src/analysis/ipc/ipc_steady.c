#include "analysis/ipc/ipc_steady.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS_MAX = 3, MARGIN = 10 }; /* MARGIN: the first and the last tenth are start and end */

static bool repeats(const struct ipc_event *event)
{
	return event->kind == IPC_EVENT_SYSCALL || event->kind == IPC_EVENT_MARK || event->kind == IPC_EVENT_SWITCH;
}

struct tally {
	uint32_t name;
	uint8_t kind;
	uint64_t count;
};

/* The event that occurs most often, functions before system calls before switches. */
static struct tally most_frequent(const struct ipc_track *track)
{
	static const uint8_t order[] = { IPC_EVENT_MARK, IPC_EVENT_SYSCALL, IPC_EVENT_SWITCH };
	VEC(struct tally) tallies = { 0 };
	struct tally best = { 0 };
	for (size_t i = 0; i < track->events.count; i++) {
		const struct ipc_event *event = &track->events.items[i];
		if (!repeats(event))
			continue;
		size_t n = 0;
		while (n < tallies.count && (tallies.items[n].name != event->name || tallies.items[n].kind != event->kind))
			n++;
		if (n == tallies.count)
			vec_push(&tallies, ((struct tally){ event->name, event->kind, 0 }));
		tallies.items[n].count++;
	}
	for (size_t k = 0; k < sizeof order && best.count <= ITERATIONS_MAX; k++)
		for (size_t i = 0; i < tallies.count; i++)
			if (tallies.items[i].kind == order[k] && tallies.items[i].count > best.count)
				best = tallies.items[i];
	vec_fini(&tallies);
	return best;
}

static bool lost_between(const struct ipc_track *track, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < track->events.count; i++) {
		const struct ipc_event *event = &track->events.items[i];
		if ((event->kind == IPC_EVENT_GAP || event->kind == IPC_EVENT_OVERFLOW) && event->from_ns >= from_ns && event->from_ns <= to_ns)
			return true;
	}
	return false;
}

static int compare_cycles(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;
	return *left < *right ? -1 : *left > *right;
}

/* Of the runs of `iterations` iterations within the margins, the one whose length is nearest to the median. */
static void choose(struct ipc_steady *steady, const struct ipc_track *track, const struct ipc_event *const *starts, size_t count,
	unsigned iterations)
{
	uint64_t first = track->ranges.items[0].from_ns, last = track->ranges.items[track->ranges.count - 1].to_ns;
	uint64_t margin = (last - first) / MARGIN;
	size_t runs = count - iterations;
	uint64_t *lengths CLEANUP_FREE = memory_zero(runs, sizeof *lengths);
	for (size_t i = 0; i < runs; i++)
		lengths[i] = starts[i + iterations]->from_ns - starts[i]->from_ns;
	qsort(lengths, runs, sizeof *lengths, compare_cycles);
	double median = (double)lengths[runs / 2], best = INFINITY;
	for (size_t i = 0; i < runs; i++) {
		const struct ipc_event *from = starts[i], *to = starts[i + iterations];
		double distance = fabs((double)(to->from_ns - from->from_ns) - median);
		if (from->from_ns < first + margin || to->from_ns > last - margin || distance >= best || to->from_cycle <= from->from_cycle ||
			lost_between(track, from->from_ns, to->from_ns))
			continue;
		best = distance;
		steady->found = true;
		steady->iterations = iterations;
		steady->from_ns = from->from_ns;
		steady->to_ns = to->from_ns;
		steady->from_cycle = from->from_cycle;
		steady->to_cycle = to->from_cycle;
	}
}

void ipc_steady_find(struct ipc_steady *steady, const struct ipc_tracks *tracks, const struct ipc_track *track,
	const struct ipc_anchor *anchor)
{
	VEC(const struct ipc_event *) starts = { 0 };
	struct tally frequent = most_frequent(track);
	*steady = (struct ipc_steady){ .name = frequent.name, .kind = frequent.kind };
	for (size_t i = 0; i < track->events.count; i++) {
		const struct ipc_event *event = &track->events.items[i];
		steady->losses += event->kind == IPC_EVENT_GAP || event->kind == IPC_EVENT_OVERFLOW;
		bool starts_here = anchor ? ipc_anchor_matches(anchor, tracks, event) :
			frequent.count && event->kind == frequent.kind && event->name == frequent.name;
		if (!starts_here)
			continue;
		if (anchor) {
			steady->name = event->name;
			steady->kind = event->kind;
		}
		vec_push(&starts, event);
	}
	steady->occurrences = starts.count;
	for (unsigned iterations = ITERATIONS_MAX; iterations && !steady->found; iterations--)
		if (starts.count > iterations)
			choose(steady, track, starts.items, starts.count, iterations);
	vec_fini(&starts);
	steady->whole_rate = track->cycles ? (double)track->instructions / (double)track->cycles : 0;
	if (steady->found)
		steady->rate = (ipc_track_instructions(track, steady->to_cycle) - ipc_track_instructions(track, steady->from_cycle)) /
			(double)(steady->to_cycle - steady->from_cycle);
}
