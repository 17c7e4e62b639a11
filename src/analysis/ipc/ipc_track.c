#include "analysis/ipc/ipc_track.h"

#include <stdlib.h>

#include "base/search.h"

void ipc_tracks_fini(struct ipc_tracks *tracks)
{
	for (size_t i = 0; i < tracks->list.count; i++) {
		vec_fini(&tracks->list.items[i].ranges);
		vec_fini(&tracks->list.items[i].events);
	}
	vec_fini(&tracks->list);
	idmap_fini(&tracks->known);
	strtab_fini(&tracks->names);
}

static uint64_t key_of(int32_t cpu, int32_t tid)
{
	return (uint64_t)(uint32_t)cpu << 32 | (uint32_t)tid;
}

size_t ipc_tracks_get(const struct ipc_tracks *tracks, int32_t cpu, int32_t tid)
{
	uint32_t index = idmap_get(&tracks->known, key_of(cpu, tid));
	return index == IDMAP_NONE ? SIZE_MAX : index;
}

size_t ipc_tracks_find(struct ipc_tracks *tracks, int32_t cpu, int32_t tid)
{
	bool added;
	uint32_t index = idmap_add(&tracks->known, key_of(cpu, tid), (uint32_t)tracks->list.count, &added);
	if (added)
		vec_push(&tracks->list, ((struct ipc_track){ .cpu = cpu, .tid = tid, .pid = -1, .slack = tracks->slack }));
	return index;
}

static int compare_tracks(const void *a, const void *b)
{
	const struct ipc_track *left = a, *right = b;
	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static int compare_events(const void *a, const void *b)
{
	const struct ipc_event *left = a, *right = b;
	if (left->from_ns != right->from_ns)
		return left->from_ns < right->from_ns ? -1 : 1;
	if (left->from_cycle != right->from_cycle)
		return left->from_cycle < right->from_cycle ? -1 : 1;
	return (int)left->kind - (int)right->kind;
}

void ipc_tracks_finish(struct ipc_tracks *tracks)
{
	idmap_fini(&tracks->known); /* the order changes */
	size_t used = 0;
	for (size_t i = 0; i < tracks->list.count; i++) {
		if (tracks->list.items[i].ranges.count) {
			tracks->list.items[used++] = tracks->list.items[i];
		} else {
			vec_fini(&tracks->list.items[i].ranges);
			vec_fini(&tracks->list.items[i].events);
		}
	}
	tracks->list.count = used;
	if (tracks->list.count)
		qsort(tracks->list.items, tracks->list.count, sizeof *tracks->list.items, compare_tracks);
	for (size_t i = 0; i < tracks->list.count; i++) {
		struct ipc_track *track = &tracks->list.items[i];
		if (track->events.count)
			qsort(track->events.items, track->events.count, sizeof *track->events.items, compare_events);
	}
}

void ipc_track_add(struct ipc_track *track, uint64_t cycles, uint64_t instructions, uint64_t from_ns, uint64_t to_ns, bool gap)
{
	if (cycles > UINT64_MAX - track->cycles || instructions > UINT64_MAX - track->instructions)
		return;
	vec_push(&track->ranges, ((struct ipc_range){ .from_cycle = track->cycles, .to_cycle = track->cycles + cycles, .from_ns = from_ns,
		.to_ns = to_ns, .instructions = instructions, .before = track->instructions, .gaps = (uint32_t)track->gaps, .gap = gap }));
	track->cycles += cycles;
	track->instructions += instructions;
	track->gaps += gap;
	track->tail = false;
}

void ipc_track_title(const struct ipc_tracks *tracks, const struct ipc_track *track, struct str *text)
{
	const char *name = strtab_text(&tracks->names, track->comm);
	str_clear(text);
	str_printf(text, track->cpu >= 0 ? "CPU %d" : "thread %d", track->cpu >= 0 ? track->cpu : track->tid);
	if (*name)
		str_printf(text, " (%s)", name);
}

const char *ipc_event_word(enum ipc_event_kind kind)
{
	static const char *const words[IPC_EVENT_KINDS] = { "user", "kernel", "untraced", "syscall", "off-cpu", "mark", "switch", "cbr", "psb",
		"power", "overflow", "gap" };
	return words[kind];
}

size_t ipc_track_at(const struct ipc_track *track, uint64_t cycle)
{
	return SEARCH_COUNT(track->ranges.count, i, track->ranges.items[i].to_cycle < cycle);
}

/* The first range that ends at a time or later. */
static size_t range_at_ns(const struct ipc_track *track, uint64_t ns)
{
	return SEARCH_COUNT(track->ranges.count, i, track->ranges.items[i].to_ns < ns);
}

/* value's place between from and to, on another axis. */
static uint64_t interpolate(uint64_t value, uint64_t from, uint64_t to, uint64_t other_from, uint64_t other_to)
{
	if (value <= from || to <= from)
		return value <= from ? other_from : other_to;
	if (value >= to)
		return other_to;
	return other_from + (uint64_t)((unsigned __int128)(other_to - other_from) * (value - from) / (to - from));
}

uint64_t ipc_track_cycle(const struct ipc_track *track, uint64_t ns)
{
	size_t i = range_at_ns(track, ns);
	if (i == track->ranges.count)
		return track->cycles;
	const struct ipc_range *range = &track->ranges.items[i];
	return interpolate(ns, range->from_ns, range->to_ns, range->from_cycle, range->to_cycle);
}

uint64_t ipc_track_ns(const struct ipc_track *track, uint64_t cycle, bool after)
{
	size_t i = ipc_track_at(track, after ? cycle + 1 : cycle);
	if (i == track->ranges.count)
		return i ? track->ranges.items[i - 1].to_ns : 0;
	const struct ipc_range *range = &track->ranges.items[i];
	return interpolate(cycle, range->from_cycle, range->to_cycle, range->from_ns, range->to_ns);
}

double ipc_track_instructions(const struct ipc_track *track, uint64_t cycle)
{
	if (cycle >= track->cycles)
		return (double)track->instructions;
	size_t i = ipc_track_at(track, cycle + 1); /* ranges that end at the cycle are complete */
	const struct ipc_range *range = &track->ranges.items[i];
	double share = cycle <= range->from_cycle ? 0 :
		(double)(cycle - range->from_cycle) / (double)(range->to_cycle - range->from_cycle);
	return cycle ? (double)range->before + share * (double)range->instructions : 0;
}
