#include "analysis/stack/stack.h"

#include <string.h>

#include "unit.h"

static uint32_t place_of_ip(struct stacks *stacks, uint64_t ip)
{
	struct place place = { .module = MODULE_ID_NONE, .key_ip = ip, .ip = ip };
	return stacks_place(stacks, &place);
}

TEST("stacks with the same outer frames share nodes")
{
	struct stacks stacks;
	stacks_init(&stacks);
	uint32_t main = stacks_push(&stacks, STACK_ROOT, place_of_ip(&stacks, 1));
	uint32_t f = stacks_push(&stacks, main, place_of_ip(&stacks, 2));
	uint32_t g = stacks_push(&stacks, main, place_of_ip(&stacks, 3));
	EXPECT(f != g);
	EXPECT_INT(stacks_push(&stacks, STACK_ROOT, place_of_ip(&stacks, 1)), main);
	EXPECT_INT(stacks_push(&stacks, main, place_of_ip(&stacks, 2)), f);
	EXPECT_INT(stacks.nodes[g].parent, main);
	EXPECT(main < f && main < g);
	stacks_fini(&stacks);
}

TEST("stacks that were appended without look-ups are found afterwards")
{
	enum { APPENDED = 1000 };
	struct stacks stacks;
	uint32_t wrong = 0;
	stacks_init(&stacks);
	for (uint32_t i = 0; i < APPENDED; i++)
		wrong += stacks_append(&stacks, i / 2, i) != i + 1;
	uint32_t pushed = stacks_push(&stacks, STACK_ROOT, APPENDED);
	EXPECT_INT(stacks_push(&stacks, STACK_ROOT, APPENDED), pushed);
	stacks_unlist(&stacks);
	for (uint32_t i = 0; i < APPENDED; i++)
		wrong += stacks_push(&stacks, i / 2, i) != i + 1;
	EXPECT_INT(wrong, 0);
	EXPECT_INT(stacks_push(&stacks, STACK_ROOT, APPENDED), pushed);
	EXPECT_INT(stacks.count, APPENDED + 2);
	stacks_fini(&stacks);
}

TEST("pushing gives the same stack after any other stack, from the root or from the middle")
{
	struct stacks stacks;
	stacks_init(&stacks);
	uint32_t a = place_of_ip(&stacks, 1), b = place_of_ip(&stacks, 2), c = place_of_ip(&stacks, 3);
	uint32_t main = stacks_push(&stacks, STACK_ROOT, a);
	uint32_t deep = stacks_push(&stacks, stacks_push(&stacks, main, b), c);
	uint32_t other = stacks_push(&stacks, stacks_push(&stacks, STACK_ROOT, b), c);
	EXPECT(other != deep);
	EXPECT_INT(stacks_push(&stacks, STACK_ROOT, a), main);
	EXPECT_INT(stacks_push(&stacks, stacks_push(&stacks, main, b), c), deep);
	EXPECT_INT(stacks_push(&stacks, stacks.nodes[other].parent, c), other);
	EXPECT_INT(stacks_push(&stacks, stacks_push(&stacks, main, b), c), deep);
	EXPECT_INT(stacks_push(&stacks, stacks_push(&stacks, STACK_ROOT, b), c), other);
	stacks_fini(&stacks);
}

TEST("a stack that is pushed at once has the nodes that single pushes give, whatever was pushed before")
{
	enum { STACKS = 3000, DEPTH = 11 };
	struct stacks one, all;
	stacks_init(&one);
	stacks_init(&all);
	uint32_t state = 1, ends[STACKS];
	for (size_t i = 0; i < STACKS; i++) {
		uint32_t places[DEPTH], node = STACK_ROOT;
		size_t count = i % (DEPTH + 1), single = i % 5 == 0 && count ? 1 : 0;
		for (size_t k = 0; k < count; k++) {
			state = state * 1103515245u + 12345u;
			places[k] = (state >> 16) % (k < 4 ? 2 : 50);
			node = stacks_push(&one, node, places[k]);
		}
		ends[i] = stacks_push_all(&all, single ? stacks_push(&all, STACK_ROOT, places[0]) : STACK_ROOT, places + single, count - single);
		EXPECT_INT(ends[i], node);
	}
	EXPECT_INT(all.count, one.count);
	EXPECT(memcmp(all.nodes + 1, one.nodes + 1, (one.count - 1) * sizeof *one.nodes) == 0);
	for (uint32_t id = 1; id < all.count; id++)
		EXPECT_INT(stacks_push(&all, all.nodes[id].parent, all.nodes[id].place), id);
	EXPECT_INT(all.count, one.count);
	stacks_fini(&one);
	stacks_fini(&all);
}

TEST("a stack that is pushed at once may be deeper than the table of nodes is large")
{
	enum { DEPTH = 5000 };
	struct stacks stacks;
	uint32_t places[DEPTH], node = STACK_ROOT;
	stacks_init(&stacks);
	for (uint32_t i = 0; i < DEPTH; i++)
		places[i] = i % 7;
	EXPECT_INT(stacks_push_all(&stacks, STACK_ROOT, places, DEPTH), DEPTH);
	EXPECT_INT(stacks.count, DEPTH + 1);
	for (uint32_t i = 0; i < DEPTH; i++)
		node = stacks_push(&stacks, node, places[i]);
	EXPECT_INT(node, DEPTH);
	stacks_fini(&stacks);
}

TEST("all addresses of a function are one place if the symbol is known")
{
	struct stacks stacks;
	stacks_init(&stacks);
	struct place first = { .symbol = 5, .module = 1, .ip = 0x100 }, second = { .symbol = 5, .module = 1, .ip = 0x108 };
	EXPECT_INT(stacks_place(&stacks, &first), stacks_place(&stacks, &second));
	EXPECT_INT(stacks_place_at(&stacks, 0)->ip, 0x100);
	stacks_fini(&stacks);
}

TEST("the trie finds its nodes after it has grown")
{
	struct stacks stacks;
	stacks_init(&stacks);
	uint32_t node = STACK_ROOT;
	for (uint64_t i = 0; i < 3000; i++)
		node = stacks_push(&stacks, node, place_of_ip(&stacks, i));
	uint32_t again = STACK_ROOT;
	for (uint64_t i = 0; i < 3000; i++)
		again = stacks_push(&stacks, again, place_of_ip(&stacks, i));
	EXPECT_INT(again, node);
	EXPECT_INT(stacks.count, 3001);
	EXPECT_INT(stacks_depth(&stacks, node), 3000);
	EXPECT_INT(stacks_bytes(&stacks, stacks.count, 3000), stacks.capacity * sizeof *stacks.nodes +
		stacks.slot_count * sizeof *stacks.slots + tuples_bytes(&stacks.places, 3000));
	stacks_fini(&stacks);
}

TEST("a node takes at most 32 bytes and a place at most 144, as documented, however many there are")
{
	enum { FEW = 1000, MOST = 70000, NODE_BYTES = 32, PLACE_BYTES = 144 };
	struct stacks stacks;
	stacks_init(&stacks);
	uint32_t node = STACK_ROOT;
	for (uint64_t i = 0; i < MOST; i++) {
		node = stacks_push(&stacks, node, place_of_ip(&stacks, i));
		if (i < FEW)
			continue;
		size_t bytes = stacks.capacity * sizeof *stacks.nodes + stacks.slot_count * sizeof *stacks.slots;
		EXPECT(bytes <= (size_t)stacks.count * NODE_BYTES);
		EXPECT(tuples_bytes(&stacks.places, i + 1) <= (i + 1) * PLACE_BYTES);
	}
	stacks_fini(&stacks);
}
