/* Hash functions, and an open-addressed map from a 64-bit key to a 32-bit value. An attacker may choose the keys: slots also depend on the
 * address of the table, which a file cannot know. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	return x;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a * 0x9e3779b97f4a7c15u + hash_u64(b));
}

uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_bytes_from(uint64_t seed, const void *data, size_t len);

#define IDMAP_NONE 0xffffffffu

struct idmap_slot {
	uint64_t key;
	uint32_t value; /* IDMAP_NONE: free */
};

struct idmap {
	struct idmap_slot *slots;
	size_t count, capacity; /* capacity: a power of two, or 0 */
};

void idmap_fini(struct idmap *map);                                   /* accepts a zeroed map */
uint32_t idmap_get(const struct idmap *map, uint64_t key);            /* IDMAP_NONE if absent */
/* Sets or replaces; value must not be IDMAP_NONE. */
void idmap_set(struct idmap *map, uint64_t key, uint32_t value);
/* The value of key. If key is absent, stores `fresh`, sets *added and returns fresh. */
uint32_t idmap_add(struct idmap *map, uint64_t key, uint32_t fresh, bool *added);
