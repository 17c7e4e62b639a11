#include "analysis/annotate/blocks.h"

#include <stdlib.h>

#include "abi/branch.h"
#include "base/search.h"
#include "data/branch_counters.h"

void blocks_fini(struct blocks *blocks)
{
	vec_fini(&blocks->items);
	idmap_fini(&blocks->by_range);
	vec_fini(&blocks->counts);
	idmap_fini(&blocks->by_count);
}

static struct block_count *count_of(struct blocks *blocks, uint32_t module, uint64_t end, uint32_t event)
{
	uint64_t key = hash_pair(hash_pair(module, event), end);
	uint32_t id;
	for (; (id = idmap_get(&blocks->by_count, key)) != IDMAP_NONE; key++) {
		struct block_count *known = &blocks->counts.items[id];
		if (known->module == module && known->event == event && known->end == end)
			return known;
	}
	idmap_set(&blocks->by_count, key, (uint32_t)blocks->counts.count);
	struct block_count *added = vec_add(&blocks->counts);
	*added = (struct block_count){ .module = module, .event = event, .end = end };
	return added;
}

/* Adds the counters of the index-th branch of a sample: a field for each event of its group that counts. */
static void add_counters(struct blocks *blocks, const struct resolved *r, uint64_t index, const struct location *from)
{
	const struct evlist *evlist = session_evlist(r->session);
	const struct evsel *events = evlist->events.items;
	uint32_t leader = r->evsel->leader;
	uint64_t word = load_u64(r->sample->branch_counters + index * sizeof word);
	if (!blocks->counts_branches)
		blocks->counter_bits = branch_counter_limits(&r->session->source->header).bits;
	blocks->counts_branches = true;
	const uint64_t most = (UINT64_C(1) << blocks->counter_bits) - 1;
	for (uint32_t event = leader; word && event < evlist->events.count && events[event].leader == leader; event++) {
		if (!evsel_counts_branches(&events[event]))
			continue;
		if (word & most) {
			struct block_count *count = count_of(blocks, from->module, from->offset, event);
			count->sum += word & most;
			count->saturated |= (word & most) == most;
		}
		word >>= blocks->counter_bits;
	}
}

static struct block *block_of(struct blocks *blocks, uint32_t module, uint64_t start, uint64_t end)
{
	uint64_t key = hash_pair(hash_pair(module, start), end);
	uint32_t id;
	for (; (id = idmap_get(&blocks->by_range, key)) != IDMAP_NONE; key++) {
		struct block *known = &blocks->items.items[id];
		if (known->module == module && known->start == start && known->end == end)
			return known;
	}
	idmap_set(&blocks->by_range, key, (uint32_t)blocks->items.count);
	struct block *added = vec_add(&blocks->items);
	*added = (struct block){ .module = module, .start = start, .end = end, .least = UINT32_MAX };
	return added;
}

void blocks_add_sample(struct blocks *blocks, const struct resolved *r, bool joined)
{
	const struct location *target = NULL; /* of the branch before */
	for (uint64_t i = r->sample->branch_count; i-- > 0;) {
		const struct branch_entry branch = sample_branch(r->sample, i);
		const struct location *from = resolved_locate_any(r, branch.from);
		bool follows = joined && target && target->module == from->module && target->offset <= from->offset;
		if (from->module != MODULE_ID_NONE) {
			struct block *block = block_of(blocks, from->module, follows ? target->offset : BLOCK_NO_START, from->offset);
			uint32_t cycles = branch_cycles(branch.flags);
			block->runs += follows;
			block->predicted += follows && branch_is_predicted(branch.flags);
			if (cycles) {
				if (block->timed < BLOCK_FIRST)
					block->first[block->timed] = cycles;
				block->timed++;
				block->cycles += cycles;
				block->least = cycles < block->least ? cycles : block->least;
				block->most = cycles > block->most ? cycles : block->most;
				if (r->sample->branch_counters)
					add_counters(blocks, r, i, from);
			}
		}
		target = resolved_locate_any(r, branch.to);
	}
}

uint64_t blocks_add_cycles(struct blocks *blocks, const struct resolved *r, bool joined)
{
	const struct sample *sample = r->sample;
	uint64_t cycles = 0;
	if (!sample->branch_count || !branch_cycles(sample_branch(sample, 0).flags))
		return 0;
	for (uint64_t i = 0; i < sample->branch_count; i++)
		cycles += branch_cycles(sample_branch(sample, i).flags);
	blocks_add_sample(blocks, r, joined);
	return cycles;
}

void blocks_merge(struct blocks *to, struct blocks *from)
{
	for (size_t i = 0; i < from->items.count; i++) {
		const struct block *add = &from->items.items[i];
		struct block *sum = block_of(to, add->module, add->start, add->end);
		for (uint64_t k = 0; k < add->timed && sum->timed + k < BLOCK_FIRST; k++)
			sum->first[sum->timed + k] = add->first[k];
		sum->runs += add->runs;
		sum->predicted += add->predicted;
		sum->timed += add->timed;
		sum->cycles += add->cycles;
		sum->least = add->least < sum->least ? add->least : sum->least;
		sum->most = add->most > sum->most ? add->most : sum->most;
	}
	for (size_t i = 0; i < from->counts.count; i++) {
		const struct block_count *add = &from->counts.items[i];
		struct block_count *sum = count_of(to, add->module, add->end, add->event);
		sum->sum += add->sum;
		sum->saturated |= add->saturated;
	}
	blocks_fini(from);
}

static int block_compare(const void *left, const void *right)
{
	const struct block *a = left, *b = right;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static int count_compare(const void *left, const void *right)
{
	const struct block_count *a = left, *b = right;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

const struct block_count *blocks_count(const struct blocks *blocks, uint32_t module, uint64_t end, uint32_t event)
{
	const struct block_count key = { .module = module, .end = end, .event = event };
	size_t at = SEARCH_COUNT(blocks->counts.count, i, count_compare(&blocks->counts.items[i], &key) < 0);
	const struct block_count *found = at < blocks->counts.count ? &blocks->counts.items[at] : NULL;
	return found && count_compare(found, &key) == 0 ? found : NULL;
}

void blocks_sort(struct blocks *blocks)
{
	if (blocks->counts.count)
		qsort(blocks->counts.items, blocks->counts.count, sizeof *blocks->counts.items, count_compare);
	idmap_fini(&blocks->by_count);
	if (blocks->items.count)
		qsort(blocks->items.items, blocks->items.count, sizeof *blocks->items.items, block_compare);
	idmap_fini(&blocks->by_range);
}

/* The index of the first block that is not before an end. */
static size_t block_position(const struct blocks *blocks, uint32_t module, uint64_t end)
{
	const struct block key = { .module = module, .end = end };
	return SEARCH_COUNT(blocks->items.count, i, block_compare(&blocks->items.items[i], &key) < 0);
}

const struct block *blocks_in(const struct blocks *blocks, uint32_t module, uint64_t start, uint64_t end, size_t *count)
{
	size_t first = block_position(blocks, module, start);
	*count = block_position(blocks, module, end) - first;
	return *count ? blocks->items.items + first : NULL;
}

bool blocks_next_timed(const struct block *list, size_t count, size_t *at, uint64_t function, struct timed_block *timed)
{
	while (*at < count) {
		uint64_t start = BLOCK_NO_START;
		*timed = (struct timed_block){ .end = list[*at].end - function };
		for (uint64_t end = list[*at].end; *at < count && list[*at].end == end; ++*at) {
			const struct block *block = &list[*at];
			bool known = block->start != BLOCK_NO_START && block->start >= function && block->start < end;
			timed->runs += block->timed;
			timed->cycles += block->cycles;
			if (block->timed && (!timed->longest || (known && block->start < start)))
				timed->longest = block;
			if (block->timed && known && block->start < start)
				start = block->start;
		}
		timed->start = start == BLOCK_NO_START ? 0 : start - function;
		if (timed->runs)
			return true;
	}
	return false;
}
