#include "analysis/stack/stack.h"

#include <stdlib.h>

#include "analysis/stack/stack_slots.h"
#include "base/memory.h"

void stacks_init(struct stacks *stacks)
{
	*stacks = (struct stacks){ .count = 1 };
	tuples_init(&stacks->places, PLACE_KEY_WORDS, PLACE_WORDS);
}

void stacks_fini(struct stacks *stacks)
{
	tuples_fini(&stacks->places);
	free(stacks->nodes);
	free(stacks->slots);
	vec_fini(&stacks->path);
	*stacks = (struct stacks){ 0 };
}

size_t stacks_bytes(const struct stacks *stacks, size_t nodes, size_t places)
{
	return memory_doubled(nodes, FIRST_NODES) * sizeof *stacks->nodes + memory_doubled(2 * nodes + 1, FIRST_NODES) * sizeof *stacks->slots +
		tuples_bytes(&stacks->places, places);
}

uint32_t stacks_place(struct stacks *stacks, const struct place *place)
{
	return tuples_add(&stacks->places, (const uint64_t *)place);
}

static uint32_t first_slot(const struct stacks *stacks, uint32_t id)
{
	return stack_node_hash(stacks, stacks->nodes[id].parent, stacks->nodes[id].place) & (stacks->slot_count - 1);
}

/* Enters the nodes from `id` on, which are not in the table. Their slots are at random places: the cache misses overlap. */
static void list_nodes(struct stacks *stacks, uint32_t id)
{
	enum { AHEAD = 16 };
	uint32_t mask = stacks->slot_count - 1, ahead = id;
	for (; id < stacks->count; id++) {
		for (; ahead < stacks->count && ahead < id + AHEAD; ahead++)
			__builtin_prefetch(&stacks->slots[first_slot(stacks, ahead)], 1);
		uint32_t at = first_slot(stacks, id);
		while (stacks->slots[at])
			at = (at + 1) & mask;
		stacks->slots[at] = id;
	}
}

static void stacks_grow_slots(struct stacks *stacks)
{
	free(stacks->slots);
	do
		stacks->slot_count = stacks->slot_count ? stacks->slot_count * 2 : FIRST_NODES;
	while (stacks->count > stacks->slot_count / 2);
	stacks->slots = memory_table(stacks->slot_count, sizeof *stacks->slots);
	list_nodes(stacks, 1);
}

static void stacks_grow_nodes(struct stacks *stacks)
{
	stacks->capacity = stacks->capacity ? stacks->capacity * 2 : FIRST_NODES;
	stacks->nodes = memory_resize(stacks->nodes, stacks->capacity, sizeof *stacks->nodes);
}

uint32_t stacks_append(struct stacks *stacks, uint32_t parent, uint32_t place)
{
	if (stacks->count >= stacks->capacity)
		stacks_grow_nodes(stacks);
	stacks->nodes[stacks->count] = (struct stack_node){ .parent = parent, .place = place };
	return stacks->count++;
}

void stacks_unlist(struct stacks *stacks)
{
	free(stacks->slots);
	stacks->slots = NULL;
	stacks->slot_count = 0;
}

static uint32_t stack_node_intern(struct stacks *stacks, uint32_t parent, uint32_t place)
{
	/* the nodes of a new stack are created one after the other, so that the next id is a good guess */
	uint32_t next = parent + 1;
	if (next < stacks->count && stacks->nodes[next].parent == parent && stacks->nodes[next].place == place)
		return next;
	if (stacks->count >= stacks->slot_count / 2)
		stacks_grow_slots(stacks);
	uint32_t mask = stacks->slot_count - 1;
	uint32_t at = stack_node_hash(stacks, parent, place) & mask;
	for (uint32_t id; (id = stacks->slots[at]); at = (at + 1) & mask)
		if (stacks->nodes[id].parent == parent && stacks->nodes[id].place == place)
			return id;
	stacks->slots[at] = stacks->count;
	return stacks_append(stacks, parent, place);
}

uint32_t stacks_push(struct stacks *stacks, uint32_t parent, uint32_t place)
{
	uint32_t *path = stacks->path.items;
	size_t depth = parent == STACK_ROOT ? 0 : stacks->depth;
	if (depth < stacks->path.count) {
		const struct stack_node *known = &stacks->nodes[path[depth]];
		if (known->parent == parent && known->place == place) {
			stacks->depth = depth + 1;
			return path[depth];
		}
	}
	uint32_t node = stack_node_intern(stacks, parent, place);
	bool follows = depth ? depth <= stacks->path.count && path[depth - 1] == parent : parent == STACK_ROOT;
	stacks->path.count = follows ? depth : 0;
	stacks->depth = stacks->path.count;
	if (follows) {
		vec_push(&stacks->path, node);
		stacks->depth++;
	}
	return node;
}

/* Adds nodes below the last one, which has no children: none of them exists. */
static uint32_t append_nodes(struct stacks *stacks, const uint32_t *places, size_t count)
{
	uint32_t first = stacks->count;
	while (stacks->capacity - stacks->count < count)
		stacks_grow_nodes(stacks);
	for (size_t i = 0; i < count; i++, stacks->count++)
		stacks->nodes[stacks->count] = (struct stack_node){ .parent = stacks->count - 1, .place = places[i] };
	if (stacks->count > stacks->slot_count / 2)
		stacks_grow_slots(stacks);
	else
		list_nodes(stacks, first);
	bool follows = stacks->path.count && stacks->path.items[stacks->path.count - 1] == first - 1;
	for (uint32_t id = first; follows && id < stacks->count; id++)
		vec_push(&stacks->path, id);
	stacks->depth = stacks->path.count;
	return stacks->count - 1;
}

uint32_t stacks_push_all(struct stacks *stacks, uint32_t parent, const uint32_t *places, size_t count)
{
	uint32_t known = stacks->count, node = parent;
	size_t i = 0;
	while (i < count && node < known)
		node = stacks_push(stacks, node, places[i++]);
	return i < count ? append_nodes(stacks, places + i, count - i) : node;
}
