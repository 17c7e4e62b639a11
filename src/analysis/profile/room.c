#include "analysis/profile/room.h"

#include "analysis/profile/collapse.h"
#include "analysis/profile/collector.h"
#include "analysis/profile/fold.h"
#include "base/memory.h"

/* What all workers have, as if no two had the same. */
struct amounts {
	size_t nodes, places, keys, tallies, frames, accesses;
	size_t tables, first_tables;   /* bytes of all workers' tables, and of the first one's, with which the merge begins */
};

enum { CHAIN_SHARE = 8 };              /* trees of call chains have at least this part of the limit */

static struct amounts amounts_of(const struct profile *profile)
{
	struct amounts a = { 0 };
	for (unsigned i = 0; i < profile->collector_count; i++) {
		const struct collector *c = profile->collectors[i];
		size_t tables = stacks_bytes(&c->stacks, c->stacks.count, c->stacks.places.count) +
			tuples_bytes(&c->sample_keys, c->sample_keys.count) + tallies_bytes(c->tallies.count, profile->needs_sums);
		a.nodes += c->stacks.count;
		a.places += c->stacks.places.count;
		a.keys += c->sample_keys.count;
		a.tallies += c->tallies.count;
		a.frames += c->frames;
		a.accesses += c->log.count;
		a.tables += tables;
		a.first_tables += i ? 0 : tables;
	}
	return a;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t merged_tables(const struct profile *profile, const struct amounts *a)
{
	const struct collector *c = profile->collectors[0];
	return stacks_bytes(&c->stacks, a->nodes, a->places) + tuples_bytes(&c->sample_keys, a->keys) +
		tallies_bytes(a->tallies, profile->needs_sums);
}

/* Rows: one for each place at which a sample is, with --children one for each frame above it, at most all places for each sample key. */
static size_t most_entries(const struct profile *profile, const struct amounts *a)
{
	size_t reached = a->tallies + (profile->options.iteration == ITERATE_CALLERS ? a->frames : 0), all;
	if (__builtin_mul_overflow(a->keys, a->places, &all))
		all = SIZE_MAX;
	return smaller(reached, all);
}

/* An entry with its row, its places in the lists of its hist, the numbers of its cells while it is ordered, and if needed the rows of a
 * second tree. */
static size_t entry_bytes(const struct profile *profile)
{
	enum { LISTS = 7 * sizeof(void *), CELL = 64, REPLAYED = 320 };
	const struct columns *columns = profile->options.columns;
	size_t words = profile->sample_key_words;
	for (size_t i = 0; i < columns->all.count; i++)
		words += columns->all.items[i].type->place_key ? columns->all.items[i].type->words : 0;
	size_t bytes = sizeof(struct entry) + words * sizeof(uint64_t) + LISTS + columns->sorts.count * 2 * sizeof(uint32_t) + CELL;
	if (profile->options.hierarchy)
		bytes += columns->sorts.count * (sizeof(struct entry) + LISTS);
	return bytes + (profile->wild || profile->logs_all ? REPLAYED : 0);
}

/* The part of the trie that a sample key reaches: of each worker at the same time. */
static size_t fold_bytes(const struct profile *profile, const struct amounts *a)
{
	size_t workers = profile->collector_count, tries = 0;
	if (profile->options.use_chains || profile->options.iteration == ITERATE_CALLERS)
		tries = smaller(a->frames, workers * a->nodes) * (sizeof(struct trie_node) + 2 * sizeof(uint32_t)) +
			workers * a->nodes * (sizeof(uint32_t) + sizeof(struct own_sums));
	return tries + a->tallies * (sizeof(uint32_t) + sizeof(struct fold_tally)) + a->keys * sizeof(uint32_t) +
		a->places * ((3 + 2 * workers) * sizeof(uint32_t) + 8 * sizeof(uint64_t));
}

size_t profile_ahead(void *context)
{
	const struct profile *profile = context;
	struct amounts a = amounts_of(profile);
	size_t merged = merged_tables(profile, &a), log = a.accesses * sizeof(struct access);
	size_t ids = (a.nodes + a.places + a.keys + a.tallies) * sizeof(uint32_t);
	ids += a.nodes * STACKS_MERGE_BYTES;
	size_t merging = (profile->collector_count > 1 ? merged - smaller(a.first_tables, merged) + ids + log : 0);
	size_t folding = merged - smaller(a.tables, merged) + fold_bytes(profile, &a) + most_entries(profile, &a) * entry_bytes(profile);
	if (profile->wild || profile->logs_all)
		folding += (a.frames + 2 * a.tallies) * 2 * sizeof(uint64_t);
	if (profile->options.use_chains && session_limit(profile->session) != SIZE_MAX)
		folding += session_limit(profile->session) / CHAIN_SHARE;
	return merging > folding ? merging : folding;
}

void room_for_chains(struct profile *profile)
{
	const struct collected *collected = &profile->collected;
	size_t limit = session_limit(profile->session), least = limit / CHAIN_SHARE;
	const struct amounts a = { .nodes = collected->stacks->count, .places = collected->stacks->places.count,
		.keys = collected->sample_keys.count, .tallies = collected->tallies.count, .frames = collected->frames };
	profile->chain_room->used = 0;
	profile->chain_room->limit = limit;
	if (limit == SIZE_MAX)
		return;
	size_t needed = memory_in_use() + fold_bytes(profile, &a) + most_entries(profile, &a) * entry_bytes(profile);
	profile->chain_room->limit = needed < limit - least ? limit - needed : least;
}
