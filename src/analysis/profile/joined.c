#include "analysis/profile/joined.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/profile/collector.h"

static uint32_t joined_place(struct collector *c, const struct location *location)
{
	uint32_t symbol = collector_site(c, location)->symbol;
	uint64_t address = symbol ? 0 : location->address;
	return stacks_place(&c->joined.stacks, &(struct place){ .symbol = symbol, .module = location->module, .key_ip = address });
}

uint32_t joined_part(struct collector *c, const struct resolved *r)
{
	struct joined_parts *parts = &c->joined;
	uint64_t first = resolved_chain_joined(r);
	uint32_t node = STACK_ROOT;
	if (!first)
		return STACK_ROOT;
	if (!parts->stacks.count)
		stacks_init(&parts->stacks);
	struct chain chain = resolved_chain_part(r, CHAIN_INNERMOST_FIRST, first, r->sample->callchain_count, SIZE_MAX);
	for (size_t i = chain.count; i-- > 0;)
		node = stacks_push(&parts->stacks, node, joined_place(c, chain.frames[i]));
	while (parts->samples.count < parts->stacks.count)
		vec_push(&parts->samples, 0);
	return node;
}

void joined_parts_fini(struct joined_parts *parts)
{
	stacks_fini(&parts->stacks);
	vec_fini(&parts->samples);
}

/* The sums over all workers, by the id of a place. */
struct sums {
	struct stacks places;
	VEC(uint64_t) samples;
	VEC(uint64_t) last_part; /* the last part that has counted for this place: a recursive function counts once for each sample */
	uint64_t parts;
};

static uint32_t sums_place(struct sums *sums, const struct place *place)
{
	uint32_t id = stacks_place(&sums->places, place);
	if (id == sums->samples.count) {
		vec_push(&sums->samples, 0);
		vec_push(&sums->last_part, 0);
	}
	return id;
}

static void sums_add(struct sums *sums, const struct joined_parts *parts, uint32_t node, const uint32_t *places)
{
	uint64_t samples = parts->samples.items[node];
	for (sums->parts++; node != STACK_ROOT; node = parts->stacks.nodes[node].parent) {
		uint32_t place = places[parts->stacks.nodes[node].place];
		if (sums->last_part.items[place] != sums->parts)
			sums->samples.items[place] += samples;
		sums->last_part.items[place] = sums->parts;
	}
}

static uint64_t sums_add_all(struct sums *sums, const struct joined_parts *parts)
{
	VEC(uint32_t) places = { 0 };
	uint64_t samples = 0;
	for (uint32_t i = 0; i < parts->stacks.places.count; i++)
		vec_push(&places, sums_place(sums, stacks_place_at(&parts->stacks, i)));
	for (uint32_t node = 0; node < parts->samples.count; node++) {
		if (parts->samples.items[node])
			sums_add(sums, parts, node, places.items);
		samples += parts->samples.items[node];
	}
	vec_fini(&places);
	return samples;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_names(const struct profile *profile, const struct joined_function *a, const struct joined_function *b)
{
	if (a->symbol && b->symbol)
		return strcmp(profile_symbol_name(profile, a->module, a->symbol), profile_symbol_name(profile, b->module, b->symbol));
	return a->symbol || b->symbol ? a->symbol ? -1 : 1 : compare_numbers(a->address, b->address);
}

static int by_samples(const void *left, const void *right, void *context)
{
	const struct joined_function *a = left, *b = right;
	int order = compare_numbers(b->samples, a->samples);
	if (!order)
		order = compare_names(context, a, b);
	return order ? order : compare_numbers((uint64_t)a->module << 32 | a->symbol, (uint64_t)b->module << 32 | b->symbol);
}

void joined_sum(const struct profile *profile, struct joined_functions *functions)
{
	struct sums sums = { 0 };
	*functions = (struct joined_functions){ 0 };
	stacks_init(&sums.places);
	for (unsigned i = 0; i < profile->collector_count; i++)
		functions->samples += sums_add_all(&sums, &profile->collectors[i]->joined);
	functions->count = sums.samples.count;
	functions->items = arena_alloc(profile->arena, functions->count * sizeof *functions->items);
	for (uint32_t i = 0; i < functions->count; i++) {
		const struct place *place = stacks_place_at(&sums.places, i);
		functions->items[i] = (struct joined_function){ .symbol = place->symbol, .module = place->module, .address = place->key_ip,
			.samples = sums.samples.items[i] };
	}
	if (functions->count)
		qsort_r(functions->items, functions->count, sizeof *functions->items, by_samples, (void *)profile);
	stacks_fini(&sums.places);
	vec_fini(&sums.samples);
	vec_fini(&sums.last_part);
}
