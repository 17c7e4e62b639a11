#include "analysis/stack/stack.h"

#include "base/memory.h"
#include "base/pool.h"
#include "unit.h"

enum { PUSHES = 10000, PLACES = 7, DEPTH = 12 };

/* Pushes random stacks; each frame's place is one of `places`. */
static void push_random(struct stacks *stacks, uint64_t seed, uint32_t places)
{
	stacks_init(stacks);
	for (unsigned i = 0; i < PUSHES; i++) {
		uint32_t node = STACK_ROOT;
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		for (unsigned depth = 0; depth < DEPTH; depth++)
			node = stacks_push(stacks, node, (uint32_t)(seed >> (4 * depth + 8)) % places);
	}
}

/* Merges tries of the two seeds on so many threads, and compares the result with the same pushes one by one. unlisted: the first trie has
 * no table before. */
static void expect_merged(unsigned threads, uint64_t seed, uint64_t other_seed, uint32_t shift, bool unlisted)
{
	struct stacks stacks, other, expected;
	struct pool *pool = pool_new(threads);
	uint32_t places[PLACES], wrong = 0;
	for (uint32_t i = 0; i < PLACES; i++)
		places[i] = i + shift;
	push_random(&stacks, seed, PLACES);
	push_random(&expected, seed, PLACES);
	push_random(&other, other_seed, PLACES);
	uint32_t *nodes CLEANUP_FREE = memory_zero(other.count, sizeof *nodes);
	uint32_t *pushed CLEANUP_FREE = memory_zero(other.count, sizeof *pushed);
	for (uint32_t i = 1; i < other.count; i++)
		pushed[i] = stacks_push(&expected, pushed[other.nodes[i].parent], places[other.nodes[i].place]);
	if (unlisted)
		stacks_unlist(&stacks);
	stacks_merge(&stacks, &other, shift ? places : NULL, nodes, pool);
	EXPECT_INT(stacks.count, expected.count);
	EXPECT_INT(stacks_bytes(&stacks, stacks.count, 0), stacks.capacity * sizeof *stacks.nodes + stacks.slot_count * sizeof *stacks.slots +
		tuples_bytes(&stacks.places, 0));
	for (uint32_t i = 1; i < other.count; i++) {
		const struct stack_node *there = &other.nodes[i], *here = &stacks.nodes[nodes[i]];
		wrong += here->parent != nodes[there->parent] || here->place != places[there->place] || here->parent >= nodes[i];
	}
	EXPECT_INT(wrong, 0);
	for (uint32_t i = 1; i < stacks.count; i++)
		wrong += stacks_push(&stacks, stacks.nodes[i].parent, stacks.nodes[i].place) != i;
	EXPECT_INT(wrong, 0);
	EXPECT_INT(stacks.count, expected.count);
	stacks_fini(&stacks);
	stacks_fini(&other);
	stacks_fini(&expected);
	pool_free(pool);
}

TEST("tries that are merged by several threads have the stacks of both, each once, and find them again")
{
	for (unsigned threads = 1; threads <= 4; threads++)
		expect_merged(threads, 1, 2, 0, false);
}

TEST("a trie is merged into one that has all, half or none of its stacks")
{
	expect_merged(3, 1, 1, 0, false);
	expect_merged(3, 1, 1, PLACES / 2, false);
	expect_merged(3, 1, 1, PLACES, false);
}

TEST("a trie is merged into one whose table of nodes was dropped")
{
	for (unsigned threads = 1; threads <= 3; threads++)
		expect_merged(threads, 1, 2, PLACES / 2, true);
}

TEST("a trie is merged into an empty one, and an empty one into it")
{
	struct stacks stacks, other;
	struct pool *pool = pool_new(2);
	uint32_t none;
	stacks_init(&stacks);
	push_random(&other, 3, PLACES);
	uint32_t *nodes CLEANUP_FREE = memory_zero(other.count, sizeof *nodes);
	stacks_merge(&stacks, &other, NULL, nodes, pool);
	EXPECT_INT(stacks.count, other.count);
	EXPECT_INT(stacks.nodes[nodes[other.count - 1]].place, other.nodes[other.count - 1].place);
	stacks_fini(&other);
	stacks_init(&other);
	uint32_t count = stacks.count;
	stacks_merge(&stacks, &other, NULL, &none, pool);
	EXPECT_INT(stacks.count, count);
	EXPECT_INT(none, STACK_ROOT);
	stacks_fini(&other);
	stacks_fini(&stacks);
	pool_free(pool);
}
