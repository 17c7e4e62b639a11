#include "analysis/count/address_hits.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

void address_hits_fini(struct address_hits *hits)
{
	free(hits->slots);
	vec_fini(&hits->firsts);
	*hits = (struct address_hits){ 0 };
}

/* It depends on the address of the slots, too (base/hash.h). */
static size_t slot_start(const struct address_hits *hits, const struct address_hit *hit)
{
	return (size_t)hash_u64(hit->address ^ (uint64_t)hit->space << 12 ^ (uintptr_t)hits->slots) & (hits->slot_count - 1);
}

static struct address_hit *slot_of(const struct address_hits *hits, const struct address_hit *hit)
{
	size_t at = slot_start(hits, hit);
	while (hits->slots[at].samples && (hits->slots[at].address != hit->address || hits->slots[at].space != hit->space))
		at = (at + 1) & (hits->slot_count - 1);
	return &hits->slots[at];
}

static void grow(struct address_hits *hits)
{
	enum { SLOTS_MIN = 1024 };
	struct address_hit *old = hits->slots;
	size_t old_count = hits->slot_count;
	hits->slot_count = old_count ? old_count * 2 : SLOTS_MIN;
	hits->slots = memory_table(hits->slot_count, sizeof *hits->slots);
	for (size_t i = 0; i < old_count; i++)
		if (old[i].samples)
			*slot_of(hits, &old[i]) = old[i];
	free(old);
}

static void count_pending(struct address_hits *hits)
{
	for (unsigned i = 0; i < hits->pending_count; i++) {
		struct address_hit *pending = &hits->pending[i], *slot = slot_of(hits, pending);
		if (slot->samples) {
			slot->samples++;
			slot->period += pending->period;
			continue;
		}
		pending->order = hits->count++;
		if (hits->keeps_first)
			vec_push(&hits->firsts, hits->pending_first[i]);
		*slot = *pending;
	}
	hits->pending_count = 0;
	if ((hits->count + ADDRESS_HITS_PENDING) * 4 > hits->slot_count * 3)
		grow(hits);
}

void address_hits_add(struct address_hits *hits, const struct map_node *root, unsigned cpumode, uint64_t address, uint64_t period,
	const struct address_first *first)
{
	hits->keeps_first = first != NULL;
	if (first)
		hits->pending_first[hits->pending_count] = *first;
	struct address_hit *pending = &hits->pending[hits->pending_count++];
	*pending = (struct address_hit){ .address = address, .space = (uintptr_t)root | cpumode, .period = period, .samples = 1 };
	if (!hits->slots)
		grow(hits);
	__builtin_prefetch(&hits->slots[slot_start(hits, pending)], 1);
	if (hits->pending_count == ADDRESS_HITS_PENDING)
		count_pending(hits);
}

struct address_hit *address_hits_take(struct address_hits *hits)
{
	count_pending(hits);
	struct address_hit *all = memory_zero(hits->count ? hits->count : 1, sizeof *all);
	for (size_t i = 0; i < hits->slot_count; i++)
		if (hits->slots[i].samples)
			all[hits->slots[i].order] = hits->slots[i];
	return all;
}
