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

/* A merge of collectors from the `first` one on. What has few rows is merged by one thread each, what has many by all, collector by
 * collector: merging pairs at the same time would leave the largest merge to one thread. */
struct collectors_merge {
	const struct profile *profile;
	struct collected *collected;
	unsigned first;
	uint32_t **places, **sample_keys;  /* by collector: the numbers in the result */
};

static void merge_places(struct collectors_merge *m)
{
	for (unsigned i = m->first; i < m->profile->collector_count; i++) {
		const struct stacks *stacks = &m->profile->collectors[i]->stacks;
		m->places[i] = memory_zero(stacks->places.count + 1, sizeof **m->places);
		for (uint32_t k = 0; k < stacks->places.count; k++)
			m->places[i][k] = stacks_place(m->collected->stacks, stacks_place_at(stacks, k));
	}
}

static void merge_sample_keys(struct collectors_merge *m)
{
	for (unsigned i = m->first; i < m->profile->collector_count; i++) {
		const struct tuples *keys = &m->profile->collectors[i]->sample_keys;
		m->sample_keys[i] = memory_zero(keys->count + 1, sizeof **m->sample_keys);
		for (uint32_t k = 0; k < keys->count; k++)
			m->sample_keys[i][k] = merge_sample_key(m->profile, m->collected, tuples_row(keys, k));
	}
}

static void merge_numbers(void *context, size_t job, unsigned worker)
{
	if (job)
		merge_places(context);
	else
		merge_sample_keys(context);
}

static void merge_begin(struct collectors_merge *m)
{
	m->places = memory_zero(m->profile->collector_count, sizeof *m->places);
	m->sample_keys = memory_zero(m->profile->collector_count, sizeof *m->sample_keys);
	pool_run(m->profile->session->pool, 2, merge_numbers, m);
}

/* Returns by tally of the collector: its index in the result. To be called once for each collector, in order. */
static uint32_t *merge_collector(struct collectors_merge *m, unsigned index)
{
	const struct collector *c = m->profile->collectors[index];
	struct pool *pool = m->profile->session->pool;
	uint32_t *nodes CLEANUP_FREE = memory_zero(c->stacks.count + 1, sizeof *nodes);
	uint32_t *ids = memory_zero(c->tallies.count + 1, sizeof *ids);
	const struct tally_numbers numbers = { .sample_keys = m->sample_keys[index], .places = m->places[index], .nodes = nodes };
	if (c->stacks.count)
		stacks_merge(m->collected->stacks, &c->stacks, m->places[index], nodes, pool);
	tallies_merge(&m->collected->tallies, &c->tallies, &numbers, ids, pool);
	free(m->places[index]);
	free(m->sample_keys[index]);
	return ids;
}

static void merge_end(struct collectors_merge *m)
{
	free(m->places);
	free(m->sample_keys);
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

/* A round of the merge of logs: each collector at a multiple of 2 * step takes the log of the one that is `step` behind it. */
struct log_round {
	const struct profile *profile;
	unsigned step;
};

static void merge_logs(void *context, size_t pair, unsigned worker)
{
	const struct log_round *round = context;
	unsigned at = (unsigned)pair * 2 * round->step;
	struct collector *c = round->profile->collectors[at], *other = round->profile->collectors[at + round->step];
	size_t count = c->log.count + other->log.count;
	if (c->log.count && other->log.count) {
		struct access *log = memory_resize(NULL, count, sizeof *log);
		merge_two(c->log.items, c->log.items + c->log.count, other->log.items, other->log.items + other->log.count, log);
		vec_fini(&c->log);
		c->log.items = log;
		c->log.count = c->log.capacity = count;
	} else if (other->log.count) {
		vec_fini(&c->log);
		c->log.items = other->log.items;
		c->log.count = other->log.count;
		c->log.capacity = other->log.capacity;
		other->log.items = NULL;
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

static void merge_all(const struct profile *profile, struct collected *collected)
{
	unsigned count = profile->collector_count;
	struct collector *first = profile->collectors[0];
	struct collectors_merge m = { .profile = profile, .collected = collected, .first = 1 };
	for (unsigned i = 0; i < count; i++) {
		merge_branches(&collected->branches, &profile->collectors[i]->branches);
		collected->frames += profile->collectors[i]->frames;
		collector_drop_caches(profile->collectors[i]);
	}
	take_tables(collected, first);
	merge_begin(&m);
	for (unsigned i = 1; i < count; i++) {
		struct collector *c = profile->collectors[i];
		uint32_t *ids CLEANUP_FREE = merge_collector(&m, i);
		for (size_t k = 0; k < c->log.count; k++)
			c->log.items[k].tally = ids[c->log.items[k].tally];
		stacks_fini(&c->stacks);
		tuples_fini(&c->sample_keys);
		tallies_fini(&c->tallies);
	}
	merge_end(&m);
	for (unsigned step = 1; step < count; step *= 2)
		pool_run(profile->session->pool, (count + step - 1) / (2 * step), merge_logs, &(struct log_round){ profile, step });
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
	struct collectors_merge m = { .profile = profile, .collected = collected };
	merge_begin(&m);
	for (unsigned i = 0; i < profile->collector_count; i++) {
		merge_branches(&collected->branches, &profile->collectors[i]->branches);
		collected->frames += profile->collectors[i]->frames;
		free(merge_collector(&m, i));
	}
	merge_end(&m);
	profile_name_threads(profile, collected);
	profile_rank_modules(profile, collected);
}
