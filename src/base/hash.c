#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

uint64_t hash_bytes(const void *data, size_t len)
{
	return hash_bytes_from(0, data, len);
}

uint64_t hash_bytes_from(uint64_t seed, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t h = hash_u64(seed) ^ 0x9e3779b97f4a7c15u ^ len;
	while (len >= 8) {
		uint64_t v;
		memcpy(&v, p, 8);
		h = (h ^ v) * 0xd6e8feb86659fd93u;
		h ^= h >> 29;
		p += 8;
		len -= 8;
	}
	uint64_t v = 0;
	if (len)
		memcpy(&v, p, len);
	return hash_u64(h ^ v);
}

void idmap_fini(struct idmap *map)
{
	free(map->slots);
	*map = (struct idmap){ 0 };
}

static struct idmap_slot *idmap_slot_of(const struct idmap *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	size_t i = hash_pair(key, (uintptr_t)map->slots) & mask;
	while (map->slots[i].value != IDMAP_NONE && map->slots[i].key != key)
		i = (i + 1) & mask;
	return &map->slots[i];
}

static void idmap_grow(struct idmap *map)
{
	struct idmap old = *map;
	map->capacity = old.capacity ? old.capacity * 2 : 16;
	map->slots = memory_resize(NULL, map->capacity, sizeof *map->slots);
	memset(map->slots, 0xff, map->capacity * sizeof *map->slots);
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].value != IDMAP_NONE)
			*idmap_slot_of(map, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

uint32_t idmap_get(const struct idmap *map, uint64_t key)
{
	return map->capacity ? idmap_slot_of(map, key)->value : IDMAP_NONE;
}

uint32_t idmap_add(struct idmap *map, uint64_t key, uint32_t fresh, bool *added)
{
	if (map->count * 2 >= map->capacity)
		idmap_grow(map);
	struct idmap_slot *slot = idmap_slot_of(map, key);
	*added = slot->value == IDMAP_NONE;
	if (*added) {
		*slot = (struct idmap_slot){ .key = key, .value = fresh };
		map->count++;
	}
	return slot->value;
}

void idmap_set(struct idmap *map, uint64_t key, uint32_t value)
{
	bool added;
	idmap_add(map, key, value, &added);
	if (!added)
		idmap_slot_of(map, key)->value = value;
}
