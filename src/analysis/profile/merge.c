#include "analysis/profile/merge.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/profile/collector.h"
#include "analysis/profile/threads.h"
#include "base/memory.h"
#include "base/pool.h"

/* The facts of an earlier sample replace those of a later one. */
static uint32_t merge_sample_key(const struct profile *profile, struct collected *collected, const uint64_t *row)
{
	uint32_t known = collected->sample_keys.count;
	uint32_t id = tuples_add(&collected->sample_keys, row);
	uint64_t *mine = tuples_row(&collected->sample_keys, id);
	if (collected->sample_keys.count == known && sample_facts(profile, row)->clock < sample_facts(profile, mine)->clock)
		memcpy(mine, row, collected->sample_keys.row_words * sizeof *row);
	return id;
}

/* ids: of the sums, by tally. */
static void merge_tallies(struct collected *collected, const struct collector *c, const uint32_t *sample_keys, const uint32_t *nodes,
	const uint32_t *places, uint32_t *ids)
{
	for (uint32_t i = 0; i < c->tallies.count; i++) {
		struct tally tally = c->tallies.items[i];
		tally.sample_key = sample_keys[tally.sample_key];
		tally.node = nodes[tally.node];
		tally.place = places[tally.place];
		struct tally *sum = tallies_add(&collected->tallies, &tally, c->tallies.sums ? &c->tallies.sums[i] : NULL);
		ids[i] = (uint32_t)(sum - collected->tallies.items);
		if (tally.first < sum->first) {
			sum->first = tally.first;
			sum->thread = tally.thread;
			sum->tid = tally.tid;
			sum->level = tally.level;
			sum->cpu = tally.cpu;
		}
	}
}

static void merge_branches(struct branch_counts *sum, const struct branch_counts *counts)
{
	for (unsigned i = 0; i < 16; i++) {
		sum->types[i] += counts->types[i];
		sum->new_types[i] += counts->new_types[i];
	}
	sum->forward += counts->forward;
	sum->backward += counts->backward;
	sum->cross_4k += counts->cross_4k;
	sum->cross_2m += counts->cross_2m;
}

static void merge_collector(const struct profile *profile, struct collected *collected, const struct collector *c, uint32_t *ids)
{
	uint32_t *places = memory_zero(c->stacks.places.count + 1, sizeof *places);
	uint32_t *nodes = memory_zero(c->stacks.count + 1, sizeof *nodes);
	uint32_t *sample_keys = memory_zero(c->sample_keys.count + 1, sizeof *sample_keys);
	for (uint32_t i = 0; i < c->stacks.places.count; i++)
		places[i] = stacks_place(collected->stacks, stacks_place_at(&c->stacks, i));
	for (uint32_t i = 1; i < c->stacks.count; i++)
		nodes[i] = stacks_push(collected->stacks, nodes[c->stacks.nodes[i].parent], places[c->stacks.nodes[i].place]);
	for (uint32_t i = 0; i < c->sample_keys.count; i++)
		sample_keys[i] = merge_sample_key(profile, collected, tuples_row(&c->sample_keys, i));
	merge_tallies(collected, c, sample_keys, nodes, places, ids);
	free(places);
	free(nodes);
	free(sample_keys);
}

/* Merges two logs into out, by clock; no two workers have the same. */
static void merge_two(const struct access *a, const struct access *a_end, const struct access *b, const struct access *b_end,
	struct access *out)
{
	while (a < a_end && b < b_end)
		*out++ = b->clock < a->clock ? *b++ : *a++;
	while (a < a_end)
		*out++ = *a++;
	while (b < b_end)
		*out++ = *b++;
}

/* Adds the log of another worker, whose tallies have the ids ids[] here, and frees it. */
static void merge_logs(struct collector *c, struct collector *other, const uint32_t *ids)
{
	size_t count = c->log.count + other->log.count;
	for (size_t i = 0; i < other->log.count; i++)
		other->log.items[i].tally = ids[other->log.items[i].tally];
	if (other->log.count) {
		struct access *log = memory_resize(NULL, count, sizeof *log);
		merge_two(c->log.items, c->log.items + c->log.count, other->log.items, other->log.items + other->log.count, log);
		vec_fini(&c->log);
		c->log.items = log;
		c->log.count = c->log.capacity = count;
	}
	vec_fini(&other->log);
}

/* Moves the tables of a collector. */
static void take_tables(struct collected *collected, struct collector *c)
{
	*collected->stacks = c->stacks;
	collected->sample_keys = c->sample_keys;
	collected->tallies = c->tallies;
	c->stacks = (struct stacks){ 0 };
	c->sample_keys = (struct tuples){ 0 };
	c->tallies = (struct tallies){ 0 };
}

/* A round of the merge: each collector at a multiple of 2 * step takes what the one has that is `step` behind it. */
struct merge_round {
	const struct profile *profile;
	unsigned step;
};

static void merge_pair(void *context, size_t pair, unsigned worker)
{
	const struct merge_round *round = context;
	unsigned at = (unsigned)pair * 2 * round->step;
	struct collector *c = round->profile->collectors[at], *other = round->profile->collectors[at + round->step];
	struct stacks stacks;
	struct collected sum = { .stacks = &stacks };
	uint32_t *ids = memory_zero(other->tallies.count + 1, sizeof *ids);
	take_tables(&sum, c);
	merge_collector(round->profile, &sum, other, ids);
	c->stacks = stacks;
	c->sample_keys = sum.sample_keys;
	c->tallies = sum.tallies;
	merge_logs(c, other, ids);
	free(ids);
	stacks_fini(&other->stacks);
	tuples_fini(&other->sample_keys);
	tallies_fini(&other->tallies);
}

/* Merges as a tree: neighbours in pairs, at the same time, until the first collector has all. The result is that of adding one after the
 * other to the first. */
static void merge_all(const struct profile *profile, struct collected *collected)
{
	unsigned count = profile->collector_count;
	struct collector *first = profile->collectors[0];
	for (unsigned i = 0; i < count; i++) {
		merge_branches(&collected->branches, &profile->collectors[i]->branches);
		collected->frames += profile->collectors[i]->frames;
		collector_drop_caches(profile->collectors[i]);
	}
	for (unsigned step = 1; step < count; step *= 2)
		pool_run(profile->session->pool, (count + step - 1) / (2 * step), merge_pair, &(struct merge_round){ profile, step });
	take_tables(collected, first);
	collected->log = first->log.items;
	collected->log_count = first->log.count;
	memset(&first->log, 0, sizeof first->log);
}

/* perf orders frames of equal weight by the memory addresses of their modules: about the order in which it creates them, those of the
 * build-id table first. */
void profile_rank_modules(const struct profile *profile, struct collected *collected)
{
	const struct header *header = &profile->session->source->header;
	const struct modules *modules = &profile->session->model.modules;
	struct strtab names = { 0 };
	for (size_t i = 0; i < header->build_ids.count; i++)
		strtab_add(&names, header->build_ids.items[i].filename, strlen(header->build_ids.items[i].filename));
	collected->module_ranks = arena_alloc(profile->arena, (modules->list.count + 1) * sizeof *collected->module_ranks);
	for (size_t i = 0; i < modules->list.count; i++) {
		const char *name = modules->list.items[i]->long_name;
		uint32_t row = strtab_find(&names, name, strlen(name));
		collected->module_ranks[i] = row != UINT32_MAX ? row : names.count + (uint32_t)i;
	}
	strtab_fini(&names);
}

void profile_merge(const struct profile *profile, struct collected *collected)
{
	merge_all(profile, collected);
	profile_name_threads(profile, collected);
	profile_rank_modules(profile, collected);
}

void profile_merge_copy(const struct profile *profile, struct collected *collected)
{
	const struct tuples *keys = &profile->collectors[0]->sample_keys;
	stacks_init(collected->stacks);
	tuples_init(&collected->sample_keys, keys->key_words, keys->row_words);
	for (unsigned i = 0; i < profile->collector_count; i++) {
		const struct collector *c = profile->collectors[i];
		uint32_t *ids = memory_zero(c->tallies.count + 1, sizeof *ids);
		merge_branches(&collected->branches, &c->branches);
		collected->frames += c->frames;
		merge_collector(profile, collected, c, ids);
		free(ids);
	}
	profile_name_threads(profile, collected);
	profile_rank_modules(profile, collected);
}
