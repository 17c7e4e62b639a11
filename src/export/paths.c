#include "export/paths.h"

static uint64_t hash_of(struct triple triple)
{
	return hash_pair(hash_pair(triple.a, triple.b), triple.c);
}

static uint32_t find(const struct triples *triples, struct triple triple, uint32_t first)
{
	for (uint32_t i = first; i != IDMAP_NONE; i = triples->items.items[i].next) {
		const struct triple *known = &triples->items.items[i].triple;
		if (known->a == triple.a && known->b == triple.b && known->c == triple.c)
			return i;
	}
	return IDMAP_NONE;
}

bool triples_has(const struct triples *triples, struct triple triple)
{
	return find(triples, triple, idmap_get(&triples->by_hash, hash_of(triple))) != IDMAP_NONE;
}

uint32_t triples_add(struct triples *triples, struct triple triple, bool *added)
{
	uint64_t hash = hash_of(triple);
	uint32_t first = idmap_get(&triples->by_hash, hash), number = find(triples, triple, first);
	*added = number == IDMAP_NONE;
	if (*added) {
		number = (uint32_t)triples->items.count;
		vec_push(&triples->items, ((struct triple_item){ triple, first }));
		idmap_set(&triples->by_hash, hash, number);
	}
	return number;
}

void triples_fini(struct triples *triples)
{
	vec_fini(&triples->items);
	idmap_fini(&triples->by_hash);
}

void call_paths_init(struct call_paths *paths)
{
	*paths = (struct call_paths){ 0 };
	vec_add(&paths->list);
}

void call_paths_fini(struct call_paths *paths)
{
	vec_fini(&paths->list);
	triples_fini(&paths->known);
}

uint32_t call_paths_add(struct call_paths *paths, uint32_t parent, uint32_t symbol, uint64_t ip)
{
	bool added;
	struct call_path path = { .parent = parent, .symbol = symbol, .ip = symbol ? 0 : ip, .in_kernel = ip >> 63 };
	uint32_t number = triples_add(&paths->known, (struct triple){ parent, symbol, path.ip }, &added) + 1;
	if (added)
		vec_push(&paths->list, path);
	return number;
}
