#include "session/callchains.h"

#include <stdatomic.h>

#include "session/session.h"
#include "tape.h"
#include "unit.h"

enum { PROCESSES = 300, MAPS = 20, MAP_SIZE = 0x1000, FRAMES = 12, ROUNDS = 40 };

static uint64_t map_start(uint32_t pid, uint32_t map)
{
	return ((uint64_t)pid << 28) + (uint64_t)(map + 1) * 0x4000;
}

static void put_mapping(struct tape *tape, uint32_t pid, uint32_t map)
{
	uint32_t ids[2] = { pid, pid };
	uint64_t where[3] = { map_start(pid, map), MAP_SIZE, 0x2000 }, time = 1;
	char name[8] = "/lib/a";
	name[5] = (char)('a' + map);
	put_head(tape, RECORD_MMAP, RECORD_MISC_USER, sizeof ids + sizeof where + sizeof name + sizeof ids + sizeof time);
	put(tape, ids, sizeof ids);
	put(tape, where, sizeof where);
	put(tape, name, sizeof name);
	put(tape, ids, sizeof ids);
	put(tape, &time, sizeof time);
}

/* A sample of the process; each has other addresses, some of them before, between and behind the mappings. In every third, the kernel
 * runs. */
static void put_chain(struct tape *tape, uint32_t pid, uint64_t number)
{
	uint32_t ids[2] = { pid, pid };
	uint64_t chain[FRAMES + 4], count = 0, time = 10 + number;
	bool kernel = number % 3 == 0;
	if (kernel) {
		chain[count++] = CONTEXT_KERNEL;
		chain[count++] = 0xffffffff81000000 + number;
	}
	chain[count++] = CONTEXT_USER;
	for (uint32_t i = 0; i < FRAMES; i++)
		chain[count++] = i % 5 == 4 ? map_start(pid, i) - 1 - number * 0x100 % 0x8000 :
			map_start(pid, (i * 7 + (uint32_t)number) % MAPS) + (number * 16 + i) % MAP_SIZE;
	put_head(tape, RECORD_SAMPLE, kernel ? RECORD_MISC_KERNEL : RECORD_MISC_USER, 32 + count * 8);
	put(tape, &chain[1], 8);
	put(tape, ids, sizeof ids);
	put(tape, &time, sizeof time);
	put(tape, &count, sizeof count);
	put(tape, chain, count * 8);
}

static struct tape *recording(void)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	for (uint32_t pid = 1; pid <= PROCESSES; pid++)
		for (uint32_t map = 0; map < MAPS; map++)
			put_mapping(tape, pid, map);
	for (uint64_t i = 0; i < (uint64_t)PROCESSES * ROUNDS; i++)
		put_chain(tape, 1 + (uint32_t)(i * 7919 % PROCESSES), i);
	put_head(tape, RECORD_FINISHED_ROUND, 0, 0);
	return tape;
}

struct seen {
	atomic_ullong frames, wrong, ahead, ips;
};

/* Whether a location is where the model has it. */
static bool is_right(const struct resolved *r, const struct location *location, uint64_t address)
{
	const struct map *map = location->cpumode == RECORD_MISC_USER ? map_find(r->user_root, address) : NULL;
	const struct point *point = location->point;
	return location->address == address && location->map == map && location->module == (map ? map->module : MODULE_ID_NONE) &&
	       location->offset == (map ? map_offset(map, address) : address) && point->id == location->id && point->module == location->module &&
	       point->offset == location->offset && point->cpumode == location->cpumode;
}

static void check_chain(struct seen *seen, const struct resolved *r, struct chain chain, bool outermost_first)
{
	const struct sample *sample = r->sample;
	size_t frame = 0;
	for (uint64_t i = 0; i < sample->callchain_count; i++) {
		uint64_t address = sample_chain_at(sample, outermost_first ? sample->callchain_count - 1 - i : i);
		if (address < CONTEXT_MAX)
			seen->wrong += frame >= chain.count || !is_right(r, chain.frames[frame++], address);
	}
	seen->wrong += frame != chain.count;
	seen->frames += frame;
}

static void on_record(void *context, const struct resolved *r, size_t slice)
{
	struct seen *seen = context;
	struct sample shorter = *r->sample;
	struct resolved other = *r;
	if (r->record->type != RECORD_SAMPLE)
		return;
	check_chain(seen, r, resolved_chain(r, CHAIN_INNERMOST_FIRST, 127), false);
	check_chain(seen, r, resolved_chain(r, CHAIN_OUTERMOST_FIRST, 127), true);
	seen->wrong += !is_right(r, resolved_ip(r), r->sample->ip);
	seen->ahead += r->located_count;
	seen->ips += r->located_count && r->ip == r->located;
	/* another call chain than that of the sample */
	uint64_t chain[] = { CONTEXT_USER, 0x10, map_start((uint32_t)r->pid, 3) + 5 };
	shorter.callchain = (const uint8_t *)chain;
	shorter.callchain_count = 3;
	other.sample = &shorter;
	check_chain(seen, &other, resolved_chain(&other, CHAIN_INNERMOST_FIRST, 127), false);
}

TEST("call chains that are located ahead have the model's locations, in both directions, with one worker and with three")
{
	for (unsigned threads = 1; threads <= 3; threads += 2) {
		struct session session;
		struct seen seen = { 0 };
		const struct sink sink = { .context = &seen, .record = on_record };
		const struct session_options options = { .threads = threads };
		struct tape *tape = recording();
		EXPECT(session_open(&session, &tape->source, &options, NULL) == 0);
		EXPECT(session_run(&session, &sink, NULL) == 0);
		EXPECT_INT(seen.wrong, 0);
		EXPECT_INT(seen.frames, (uint64_t)PROCESSES * ROUNDS * (2 * FRAMES + 2) + 2 * (PROCESSES * ROUNDS / 3));
		EXPECT(seen.ahead > (uint64_t)PROCESSES * ROUNDS * FRAMES / 4);
		EXPECT(seen.ips > 0);
		session_close(&session);
	}
}

TEST("frames are located ahead while many miss, and no longer if the sink does not ask for them")
{
	struct callchains c = { .asked = 4000, .misses = 200 };
	callchains_begin_slice(&c);
	EXPECT_INT(c.ahead, 0); /* few misses */
	c = (struct callchains){ .asked = 40000, .misses = 4000 };
	callchains_begin_slice(&c);
	EXPECT_INT(c.ahead, 0); /* a small share of the frames */
	c = (struct callchains){ .misses = 4000 };
	callchains_begin_slice(&c);
	EXPECT_INT(c.ahead, 0); /* addresses that are in no call chain */
	c = (struct callchains){ .asked = 4000, .misses = 3000 };
	callchains_begin_slice(&c);
	EXPECT(c.ahead > 0 && !c.misses && !c.asked);
	unsigned first = c.ahead;
	c.asked = c.located = 4000;
	callchains_begin_slice(&c);
	EXPECT_INT(c.ahead, first - 1);
	c.asked = 1000;
	c.located = 4000;
	callchains_begin_slice(&c);
	EXPECT_INT(c.ahead, 0);
}
