#include "export/paths.h"

enum { PARTS = 3 };

bool triples_has(const struct triples *triples, struct triple triple)
{
	return tuples_find(&triples->rows, (uint64_t[]){ triple.a, triple.b, triple.c }) != TUPLE_NONE;
}

uint32_t triples_add(struct triples *triples, struct triple triple, bool *added)
{
	if (!triples->rows.row_words)
		tuples_init(&triples->rows, PARTS, PARTS);
	uint32_t count = triples->rows.count, number = tuples_add(&triples->rows, (uint64_t[]){ triple.a, triple.b, triple.c });
	*added = number == count;
	return number;
}

void triples_fini(struct triples *triples)
{
	tuples_fini(&triples->rows);
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
