/* The part of the stacks that the tallies of one sample key reach. */
#include <stdlib.h>

#include "analysis/profile/fold.h"

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* All stack nodes above the tallies' own, each once, parents before children. */
static void reach(struct fold *fold)
{
	const struct stacks *stacks = fold->profile->collected.stacks;
	vec_clear(&fold->reached);
	for (size_t i = 0; i < fold->tallies.count; i++)
		for (uint32_t node = fold->tallies.items[i].tally->node; node != STACK_ROOT && !fold->local_of_node[node];
		     node = stacks->nodes[node].parent) {
			fold->local_of_node[node] = 1;
			vec_push(&fold->reached, node);
		}
	if (fold->reached.count < stacks->count / 16) {
		if (fold->reached.count)
			qsort(fold->reached.items, fold->reached.count, sizeof *fold->reached.items, compare_ids);
		return;
	}
	size_t at = 0;
	for (uint32_t node = 1; node < stacks->count; node++)
		if (fold->local_of_node[node])
			fold->reached.items[at++] = node;
}

static void make_nodes(struct fold *fold)
{
	const struct stacks *stacks = fold->profile->collected.stacks;
	vec_reserve(&fold->nodes, fold->reached.count + 1);
	fold->nodes.count = fold->reached.count + 1;
	memset(fold->nodes.items, 0, fold->nodes.count * sizeof *fold->nodes.items);
	struct trie_node *nodes = fold->nodes.items;
	nodes[0].tally = UINT32_MAX;
	nodes[0].place = UINT32_MAX;
	for (uint32_t i = 1; i < fold->nodes.count; i++) {
		const struct stack_node *stack = &stacks->nodes[fold->reached.items[i - 1]];
		fold->local_of_node[fold->reached.items[i - 1]] = i;
		struct trie_node *node = &nodes[i];
		node->parent = stack->parent == STACK_ROOT ? 0 : fold->local_of_node[stack->parent];
		node->place = stack->place;
		node->chain = fold->chain_of_place[stack->place];
		node->tally = UINT32_MAX;
		node->depth = nodes[node->parent].depth + 1;
		node->deepest = node->depth;
	}
}

/* Computes, from the leaves to the root, sums, depths, the earliest tally and lists of children. */
static void add_up(struct fold *fold)
{
	struct trie_node *nodes = fold->nodes.items;
	const struct fold_tally *tallies = fold->tallies.items;
	for (uint32_t i = (uint32_t)fold->nodes.count - 1; i > 0; i--) {
		struct trie_node *node = &nodes[i], *parent = &nodes[node->parent];
		parent->period += node->period;
		parent->count += node->count;
		if (parent->deepest < node->deepest)
			parent->deepest = node->deepest;
		if (parent->tally == UINT32_MAX || tallies[node->tally].tally->first < tallies[parent->tally].tally->first)
			parent->tally = node->tally;
		node->next_sibling = parent->first_child;
		parent->first_child = i;
	}
}

void fold_trie(struct fold *fold)
{
	reach(fold);
	make_nodes(fold);
	struct trie_node *nodes = fold->nodes.items;
	struct fold_tally *tallies = fold->tallies.items;
	for (uint32_t i = 0; i < fold->tallies.count; i++) {
		const struct tally *tally = tallies[i].tally;
		uint32_t leaf = tally->node == STACK_ROOT ? 0 : fold->local_of_node[tally->node];
		struct trie_node *node = &nodes[leaf];
		tallies[i].leaf = leaf;
		tallies[i].next_at_leaf = node->first_tally;
		node->first_tally = i + 1;
		node->period += tally->period;
		node->count += tally->count;
		if (node->tally == UINT32_MAX || tally->first < tallies[node->tally].tally->first)
			node->tally = i;
	}
	add_up(fold);
	for (size_t i = 0; i < fold->reached.count; i++)
		fold->local_of_node[fold->reached.items[i]] = 0;
}
