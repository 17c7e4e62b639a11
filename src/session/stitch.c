#include "session/stitch.h"

#include <stdlib.h>
#include <string.h>

#include "data/feature.h"

enum { JOINED_MAX = 16384 };

/* The last sample of a thread. */
struct stitch_thread {
	uint64_t clock;
	bool seen;
	VEC(struct branch_entry) branches;
	uint64_t hw_index;
	VEC(uint64_t) joined, scratch;
};

void stitch_fini(struct stitch *stitch)
{
	for (size_t i = 0; i < stitch->threads.count; i++) {
		struct stitch_thread *thread = stitch->threads.items[i];
		vec_fini(&thread->branches);
		vec_fini(&thread->joined);
		vec_fini(&thread->scratch);
		free(thread);
	}
	vec_fini(&stitch->threads);
	idmap_fini(&stitch->by_thread);
}

/* The value of "branches=32" in the capabilities of the header. */
static uint64_t registers_of(const struct header *header)
{
	static const char key[] = "branches=";
	struct feature_capabilities found;
	struct arena arena = { 0 };
	uint64_t registers = 0;
	if (feature_cpu_capabilities(header, &arena, &found) == 0)
		for (size_t i = 0; i < found.pairs.count; i++)
			if (strncmp(found.pairs.items[i], key, sizeof key - 1) == 0)
				registers = strtoul(found.pairs.items[i] + sizeof key - 1, NULL, 10);
	arena_fini(&arena);
	return registers;
}

static struct stitch_thread *thread_of(struct stitch *stitch, uint64_t id)
{
	bool added;
	uint32_t index = idmap_add(&stitch->by_thread, id, (uint32_t)stitch->threads.count, &added);
	if (added)
		vec_push(&stitch->threads, memory_zero(1, sizeof(struct stitch_thread)));
	return stitch->threads.items[index];
}

/* The index of this sample's base among the branches of the previous one; UINT64_MAX: no common branches. */
static uint64_t base_in_previous(const struct stitch *stitch, const struct stitch_thread *thread, const struct sample *sample)
{
	uint64_t previous = thread->branches.count, index = thread->hw_index;
	uint64_t base = stitch->registers - sample->branch_count + sample->branch_hw_index + 1;
	uint64_t distance = index > base ? index - base : stitch->registers + index - base;
	if (!sample->branch_count || distance >= previous)
		return UINT64_MAX;
	struct branch_entry ours = sample_branch(sample, sample->branch_count - 1);
	return memcmp(&thread->branches.items[distance], &ours, sizeof ours) == 0 ? distance : UINT64_MAX;
}

static void join_call_stack(struct stitch *stitch, struct stitch_thread *thread, const struct sample *sample)
{
	uint64_t base = thread->seen ? base_in_previous(stitch, thread, sample) : UINT64_MAX;
	vec_clear(&thread->scratch);
	for (uint64_t i = base + 1; base != UINT64_MAX && i < thread->branches.count; i++)
		vec_push(&thread->scratch, thread->branches.items[i].from);
	for (size_t i = 0; base != UINT64_MAX && i < thread->joined.count && thread->scratch.count < JOINED_MAX; i++)
		vec_push(&thread->scratch, thread->joined.items[i]);
	vec_clear(&thread->joined);
	for (size_t i = 0; i < thread->scratch.count; i++)
		vec_push(&thread->joined, thread->scratch.items[i]);
	thread->seen = true;
	thread->hw_index = sample->branch_hw_index;
	vec_clear(&thread->branches);
	for (uint64_t i = 0; i < sample->branch_count; i++)
		vec_push(&thread->branches, sample_branch(sample, i));
}

size_t stitch_join(struct stitch *stitch, const struct header *header, uint64_t id, uint64_t clock, const struct sample *sample,
	const uint64_t **addresses)
{
	if (!stitch->asked) {
		stitch->asked = true;
		stitch->registers = registers_of(header);
	}
	/* recordings without the index have -1, too */
	if (!stitch->registers)
		return 0;
	struct stitch_thread *thread = thread_of(stitch, id);
	if (!thread->seen || thread->clock != clock)
		join_call_stack(stitch, thread, sample);
	thread->clock = clock;
	*addresses = thread->joined.items;
	return thread->joined.count;
}
