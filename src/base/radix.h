/* A stable sort of numbers by keys of 64 bits, without comparisons, on all threads of a pool. The result does not depend on their number.
 * Only the bits in which keys differ take time. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct pool;

struct radix_item {
	uint64_t key;
	uint32_t value;
};

struct radix {
	struct radix_item *items;      /* to be filled by the user */
	struct radix_item *spare;
	size_t count;
};

void radix_init(struct radix *radix, size_t count);
void radix_fini(struct radix *radix);

/* Puts the items into rising order of their keys, equal ones in the order that they have. For several keys, sort by the last one first.
 * pool NULL: on the calling thread, which may be one of a pool's. */
void radix_sort(struct radix *radix, struct pool *pool);
/* Puts as many pointers as there are items into the order of the items, whose values are their indices. */
void radix_apply(const struct radix *radix, void **pointers);
