/* The samples of one event by address space and address: found in one cache line each, which is prefetched. For sinks that determine the
 * modules of addresses at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct map_node;

struct address_hit {
	uint64_t address;
	uintptr_t space;           /* the root of an address space, which is aligned to 16 bytes, and the mode in its low bits */
	uint64_t period;
	uint32_t samples;          /* 0: free slot */
	uint32_t order;            /* number of addresses before this one */
};

/* What a sink stores of the first sample of an address. */
struct address_first {
	uint64_t clock;
	uint32_t thread, cpu;
	int32_t tid;
};

enum { ADDRESS_HITS_PENDING = 16 };

struct address_hits {
	struct address_hit *slots; /* open addressing */
	size_t slot_count;
	uint32_t count;
	struct address_hit pending[ADDRESS_HITS_PENDING]; /* samples whose slots are being fetched */
	struct address_first pending_first[ADDRESS_HITS_PENDING];
	unsigned pending_count;
	bool keeps_first;
	VEC(struct address_first) firsts; /* by order */
};

void address_hits_fini(struct address_hits *hits); /* accepts a zeroed one */
/* root: NULL where the mode has no address space. first: NULL, for all samples, where hits->firsts is not used. */
void address_hits_add(struct address_hits *hits, const struct map_node *root, unsigned cpumode, uint64_t address, uint64_t period,
	const struct address_first *first);
/* All addresses, in the order in which they were seen first; the array has hits->count items, and the caller frees it. */
struct address_hit *address_hits_take(struct address_hits *hits);

static inline const struct map_node *address_hit_root(const struct address_hit *hit)
{
	return (const struct map_node *)(hit->space & ~(uintptr_t)7);
}

static inline unsigned address_hit_cpumode(const struct address_hit *hit)
{
	return hit->space & 7;
}
