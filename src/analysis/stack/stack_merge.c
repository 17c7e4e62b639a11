/* Merges tries on all threads. The nodes of one trie are cut into parts: a trunk, whose nodes have many descendants, and groups of whole
 * subtrees. The trunk is pushed first. Then each part can be looked up at the same time as the others: only nodes of the same part are
 * above its nodes, and a node whose parent is new is new, too, so that nothing is inserted meanwhile. The new nodes get consecutive numbers
 * by part, and their slots at last, which is the only step in which threads write to the same memory: with atomic operations. */
#include <stdlib.h>

#include "analysis/stack/stack_slots.h"
#include "base/memory.h"
#include "base/pool.h"

enum {
	SERIAL_NODES = 4096,  /* up to this many are pushed on the calling thread */
	PARTS = 8,            /* per worker: workers do not end at the same time */
	SLOT_NODES = 1 << 16, /* nodes whose slots one job sets when the table grows */
	TRUNK = 0,
};
#define FRESH UINT32_MAX      /* not here yet */

struct stack_part {
	uint32_t first, end;  /* in the list */
	uint32_t fresh;       /* nodes that are not here yet */
	uint32_t id;          /* of the first of them */
};

struct stack_merge {
	struct stacks *stacks;
	const struct stacks *from;
	const uint32_t *places;
	uint32_t *nodes;
	uint32_t *list;       /* the nodes by part, each after its parent */
	struct stack_part *parts;
	uint32_t part_count;
};

static uint32_t place_here(const struct stack_merge *m, uint32_t node)
{
	uint32_t place = m->from->nodes[node].place;
	return m->places ? m->places[place] : place;
}

static void push_node(const struct stack_merge *m, uint32_t node)
{
	m->nodes[node] = stacks_push(m->stacks, m->nodes[m->from->nodes[node].parent], place_here(m, node));
}

/* Returns by node: its part. Nodes with more than `most` nodes below are the trunk. */
static uint32_t *parts_of_nodes(struct stack_merge *m, uint32_t most)
{
	const struct stack_node *nodes = m->from->nodes;
	uint32_t count = m->from->count, filled = 0;
	uint32_t *below CLEANUP_FREE = memory_zero(count, sizeof *below), *parts = memory_resize(NULL, count, sizeof *parts);
	for (uint32_t i = count; i-- > 1;)
		below[nodes[i].parent] += below[i] + 1;
	parts[STACK_ROOT] = TRUNK;
	m->part_count = 2;
	for (uint32_t i = 1; i < count; i++) {
		if (below[i] > most) {
			parts[i] = TRUNK;
			continue;
		}
		uint32_t above = parts[nodes[i].parent];
		parts[i] = above != TRUNK ? above : m->part_count - 1;
		filled += above == TRUNK ? below[i] + 1 : 0;
		if (filled > most) {
			filled = 0;
			m->part_count++;
		}
	}
	return parts;
}

/* Lists the nodes by part, and pushes the trunk. */
static void cut_parts(struct stack_merge *m, unsigned workers)
{
	uint32_t count = m->from->count, sum = 0;
	uint32_t *parts CLEANUP_FREE = parts_of_nodes(m, count / (PARTS * workers));
	m->list = memory_resize(NULL, count, sizeof *m->list);
	m->parts = memory_zero(m->part_count, sizeof *m->parts);
	for (uint32_t i = 1; i < count; i++)
		m->parts[parts[i]].end++;
	for (uint32_t part = 0; part < m->part_count; part++) {
		uint32_t size = m->parts[part].end;
		m->parts[part].first = m->parts[part].end = sum;
		sum += size;
	}
	for (uint32_t i = 1; i < count; i++)
		m->list[m->parts[parts[i]].end++] = i;
	for (uint32_t i = m->parts[TRUNK].first; i < m->parts[TRUNK].end; i++)
		push_node(m, m->list[i]);
}

static uint32_t find(const struct stacks *stacks, uint32_t parent, uint32_t place)
{
	uint32_t mask = stacks->slot_count - 1;
	uint32_t at = stack_node_hash(stacks, parent, place) & mask;
	for (uint32_t id; stacks->slot_count && (id = stacks->slots[at]); at = (at + 1) & mask)
		if (stacks->nodes[id].parent == parent && stacks->nodes[id].place == place)
			return id;
	return FRESH;
}

static void find_part(void *context, size_t job, unsigned worker)
{
	const struct stack_merge *m = context;
	struct stack_part *part = &m->parts[job + 1];
	for (uint32_t i = part->first; i < part->end; i++) {
		uint32_t node = m->list[i], parent = m->nodes[m->from->nodes[node].parent];
		m->nodes[node] = parent == FRESH ? FRESH : find(m->stacks, parent, place_here(m, node));
		part->fresh += m->nodes[node] == FRESH;
	}
}

/* Other threads set slots, too. */
static void set_slot(struct stacks *stacks, uint32_t id)
{
	uint32_t mask = stacks->slot_count - 1, at = stack_node_hash(stacks, stacks->nodes[id].parent, stacks->nodes[id].place) & mask, none = 0;
	while (!__atomic_compare_exchange_n(&stacks->slots[at], &none, id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		at = (at + 1) & mask;
		none = 0;
	}
}

static void set_slots(void *context, size_t job, unsigned worker)
{
	struct stacks *stacks = context;
	uint32_t first = (uint32_t)job * SLOT_NODES, left = stacks->count - first;
	for (uint32_t i = 0; i < (left < SLOT_NODES ? left : SLOT_NODES); i++)
		if (first + i != STACK_ROOT)
			set_slot(stacks, first + i);
}

/* Makes room for so many nodes, as if they were pushed. */
static void reserve(struct stacks *stacks, uint32_t count, struct pool *pool)
{
	uint32_t capacity = (uint32_t)memory_doubled(count, stacks->capacity ? stacks->capacity : FIRST_NODES);
	uint32_t slots = (uint32_t)memory_doubled((size_t)2 * count + 1, stacks->slot_count ? stacks->slot_count : FIRST_NODES);
	if (capacity > stacks->capacity)
		stacks->nodes = memory_resize(stacks->nodes, capacity, sizeof *stacks->nodes);
	stacks->capacity = capacity;
	if (slots == stacks->slot_count)
		return;
	free(stacks->slots);
	stacks->slot_count = slots;
	stacks->slots = memory_table(slots, sizeof *stacks->slots);
	pool_run(pool, (stacks->count + SLOT_NODES - 1) / SLOT_NODES, set_slots, stacks);
}

static void add_part(void *context, size_t job, unsigned worker)
{
	const struct stack_merge *m = context;
	const struct stack_part *part = &m->parts[job + 1];
	uint32_t id = part->id;
	for (uint32_t i = part->first; i < part->end; i++) {
		uint32_t node = m->list[i];
		if (m->nodes[node] != FRESH)
			continue;
		m->stacks->nodes[id] = (struct stack_node){ .parent = m->nodes[m->from->nodes[node].parent], .place = place_here(m, node) };
		set_slot(m->stacks, id);
		m->nodes[node] = id++;
	}
}

void stacks_merge(struct stacks *stacks, const struct stacks *from, const uint32_t *places, uint32_t *nodes, struct pool *pool)
{
	struct stack_merge m = { .stacks = stacks, .from = from, .places = places, .nodes = nodes };
	nodes[STACK_ROOT] = STACK_ROOT;
	if (from->count <= SERIAL_NODES || pool_workers(pool) == 1) {
		for (uint32_t i = 1; i < from->count; i++)
			push_node(&m, i);
		return;
	}
	if (!stacks->slot_count)
		reserve(stacks, stacks->count, pool);
	cut_parts(&m, pool_workers(pool));
	pool_run(pool, m.part_count - 1, find_part, &m);
	uint32_t count = stacks->count;
	for (uint32_t part = 1; part < m.part_count; part++) {
		m.parts[part].id = count;
		count += m.parts[part].fresh;
	}
	reserve(stacks, count, pool);
	pool_run(pool, m.part_count - 1, add_part, &m);
	stacks->count = count;
	free(m.list);
	free(m.parts);
}
