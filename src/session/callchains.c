#include "session/callchains.h"

#include <stdlib.h>

#include "session/worker.h"

enum {
	LOCATED_MAX = 512,        /* frames of a block */
	LOCATED_EACH = 32,        /* frames of a sample */
	AHEAD_MISSES = 256,       /* misses in a slice from which frames are located ahead … */
	AHEAD_SHARE = 4,          /* … if at least one of so many frames missed … */
	AHEAD_SLICES = 127,        /* … for so many slices; then the caches are tried again */
};

void callchains_fini(struct callchains *callchains)
{
	free(callchains->locations);
	*callchains = (struct callchains){ 0 };
}

void callchains_begin_slice(struct callchains *c)
{
	if (c->ahead)
		c->ahead = c->asked * 2 < c->located ? 0 : c->ahead - 1;
	else if (c->asked && c->misses > AHEAD_MISSES && c->misses * AHEAD_SHARE > c->asked)
		c->ahead = AHEAD_SLICES;
	c->asked = c->misses = c->located = 0;
}

/* What is known of a frame between two steps. */
struct step {
	uint32_t map;             /* index in the address space */
	uint64_t hash;
};

/* Lists the first user frames of a sample, with the mappings that they may be in, and prefetches these. Returns their number. */
static size_t list_frames(struct resolved *r, struct location *locations, struct step *steps, size_t room)
{
	const struct sample *sample = r->sample;
	uint64_t i = 0, end = sample->callchain_count;
	size_t count = 0;
	bool user = true;
	for (uint64_t address; i < end; i++) {
		if ((address = sample_chain_at(sample, i)) >= CONTEXT_MAX)
			user = address == CONTEXT_USER;
		else if (user)
			break;
	}
	r->located = locations;
	r->located_chain = sample->callchain;
	r->located_from = i;
	for (uint64_t address; i < end && count < room && (address = sample_chain_at(sample, i)) < CONTEXT_MAX; i++, count++) {
		locations[count].address = address;
		steps[count].map = cached_space_last(r->user_space, address);
		cached_space_prefetch_map(r->user_space, steps[count].map);
	}
	return r->located_count = count;
}

/* Takes module and offset from the mappings, and prefetches where the points are listed. */
static void find_offsets(const struct points *points, const struct resolved *r, struct step *steps)
{
	const struct cached_space *space = r->user_space;
	for (size_t i = 0; i < r->located_count; i++) {
		struct location *location = &r->located[i];
		struct cached_map map;
		bool mapped = cached_space_map(space, steps[i].map, location->address, &map);
		location->map = mapped ? map.map : NULL;
		location->module = mapped ? map.module : MODULE_ID_NONE;
		location->offset = mapped ? location->address + map.shift : location->address;
		location->cpumode = RECORD_MISC_USER;
		steps[i].hash = point_hash(points, location->module, location->offset, RECORD_MISC_USER);
		points_prefetch_slot(points, steps[i].hash);
	}
}

/* A sink's note often begins with a pointer: what it refers to is prefetched, too. */
static void find_points(struct points *points, struct location *locations, const struct step *steps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		points_prefetch(points, steps[i].hash);
	for (size_t i = 0; i < count; i++) {
		struct location *location = &locations[i];
		location->point = points_find(points, steps[i].hash, location->module, location->offset, RECORD_MISC_USER);
		location->id = location->point->id;
		__builtin_prefetch((const void *)(uintptr_t)location->point->note[0]);
	}
}

void callchains_locate(struct worker *worker, struct resolved *resolved, size_t count)
{
	struct callchains *c = &worker->callchains;
	struct step steps[LOCATED_MAX];
	size_t frames = 0, listed = 0;
	if (!c->ahead || !worker->points.slot_count)
		return;
	if (!c->locations)
		c->locations = memory_zero(LOCATED_MAX, sizeof *c->locations);
	for (size_t i = 0; i < count; i++) {
		size_t room = LOCATED_MAX - frames < LOCATED_EACH ? LOCATED_MAX - frames : LOCATED_EACH;
		struct resolved *r = &resolved[i];
		if (!r->user_space || !(r->sample->present & SAMPLE_CALLCHAIN))
			continue;
		if (!r->user_space->count)
			space_cache_expect(&worker->spaces, r->user_space, r->sample->callchain_count);
		if (r->user_space->count)
			frames += list_frames(r, c->locations + frames, steps + frames, room);
	}
	for (size_t i = 0; i < count; listed += resolved[i++].located_count)
		find_offsets(&worker->points, &resolved[i], steps + listed);
	find_points(&worker->points, c->locations, steps, frames);
	c->located += frames;
}
