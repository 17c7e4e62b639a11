#include "cmd/ipc/ipc_counts.h"

#include "base/whole.h"
#include "cmd/recorded_counts.h"

/* Where counters of both events count. */
struct pair {
	size_t cycles, instructions;  /* index of the counter; SIZE_MAX: not counted */
	size_t track;
};

struct counts {
	const struct ipc_roles *roles;
	struct ipc_tracks *tracks;
	struct recorded_counts recorded;
	struct events events;
	VEC(struct pair) pairs;
	uint64_t before_ns;
};

static struct pair *pair_of(struct counts *counts, size_t track)
{
	for (size_t i = 0; i < counts->pairs.count; i++)
		if (counts->pairs.items[i].track == track)
			return &counts->pairs.items[i];
	vec_push(&counts->pairs, ((struct pair){ SIZE_MAX, SIZE_MAX, track }));
	return &counts->pairs.items[counts->pairs.count - 1];
}

static void configure(struct counts *counts)
{
	const struct recorded_counts *recorded = &counts->recorded;
	for (size_t i = 0; i < recorded->counters.count; i++) {
		const struct stat_counter *counter = &recorded->counters.items[i];
		enum ipc_role role = ipc_role_of(counts->roles, counts->events.list.items[counter->event].name);
		if (role == IPC_ROLE_NONE)
			continue;
		int32_t tid = counter->thread < recorded->threads.list.count ? recorded->threads.list.items[counter->thread].tid : -1;
		struct pair *pair = pair_of(counts, ipc_tracks_find(counts->tracks, counter->cpu, tid));
		*(role == IPC_ROLE_CYCLES ? &pair->cycles : &pair->instructions) = i;
	}
}

/* As if the counter had run all the time. */
static uint64_t scaled(const struct stat_count *count)
{
	if (!count->running || count->running >= count->enabled)
		return count->value;
	return whole_near((double)count->value * (double)count->enabled / (double)count->running);
}

static void add_round(struct counts *counts)
{
	const struct recorded_counts *recorded = &counts->recorded;
	for (size_t i = 0; i < counts->pairs.count; i++) {
		const struct pair *pair = &counts->pairs.items[i];
		if (pair->cycles == SIZE_MAX || pair->instructions == SIZE_MAX)
			continue;
		uint64_t cycles = scaled(&recorded->since.items[pair->cycles]);
		if (cycles)
			ipc_track_add(&counts->tracks->list.items[pair->track], cycles, scaled(&recorded->since.items[pair->instructions]),
				counts->before_ns, recorded->round.time_ns, false);
	}
	counts->before_ns = recorded->round.time_ns;
}

int ipc_counts_read(const char *path, const struct ipc_roles *roles, struct ipc_tracks *tracks, struct budget *budget, bool *found,
	struct error *err)
{
	struct counts counts = { .roles = roles, .tracks = tracks };
	*found = false;
	int step = recorded_counts_open(&counts.recorded, path, &counts.events, budget, err);
	while (step >= 0 && (step = recorded_counts_next(&counts.recorded, err)) > 0) {
		if (step == RECORDED_CONFIGURATION)
			configure(&counts);
		else
			add_round(&counts);
		*found = true;
	}
	vec_fini(&counts.pairs);
	recorded_counts_fini(&counts.recorded);
	events_fini(&counts.events);
	tracks->counted = *found;
	return step;
}
