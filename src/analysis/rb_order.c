#include "analysis/rb_order.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

/* Nodes are numbered from 1; 0 is no node. Insertion as in Cormen et al., "Introduction to Algorithms", ch. 13. */
struct rb_node {
	void *item;
	uint32_t parent, child[2];
	bool red;
};

struct rb_tree {
	struct rb_node *nodes;
	uint32_t root;
};

static bool side_of(const struct rb_tree *tree, uint32_t node)
{
	return tree->nodes[tree->nodes[node].parent].child[1] == node;
}

/* Lifts the child on the far side of `side` into node's place. */
static void rotate(struct rb_tree *tree, uint32_t node, bool side)
{
	struct rb_node *nodes = tree->nodes;
	uint32_t up = nodes[node].child[!side], moved = nodes[up].child[side], parent = nodes[node].parent;
	nodes[node].child[!side] = moved;
	if (moved)
		nodes[moved].parent = node;
	nodes[up].parent = parent;
	if (!parent)
		tree->root = up;
	else
		nodes[parent].child[side_of(tree, node)] = up;
	nodes[up].child[side] = node;
	nodes[node].parent = up;
}

static void rebalance(struct rb_tree *tree, uint32_t node)
{
	struct rb_node *nodes = tree->nodes;
	while (nodes[nodes[node].parent].red) {
		uint32_t parent = nodes[node].parent, grand = nodes[parent].parent;
		bool side = side_of(tree, parent);
		uint32_t uncle = nodes[grand].child[!side];
		if (nodes[uncle].red) {
			nodes[parent].red = nodes[uncle].red = false;
			nodes[grand].red = true;
			node = grand;
			continue;
		}
		if (side_of(tree, node) != side) {
			rotate(tree, parent, side);
			parent = node;
		}
		nodes[parent].red = false;
		nodes[grand].red = true;
		rotate(tree, grand, !side);
		break;
	}
	nodes[tree->root].red = false;
}

void rb_order(void **items, size_t count, int64_t (*before)(void *context, const void *a, const void *b), void *context)
{
	struct rb_tree tree = { .nodes = memory_zero(count + 1, sizeof *tree.nodes) };
	struct rb_node *nodes = tree.nodes;
	for (uint32_t i = 1; i <= count; i++) {
		uint32_t parent = 0;
		bool side = false;
		nodes[i].item = items[i - 1];
		for (uint32_t at = tree.root; at; at = nodes[at].child[side]) {
			parent = at;
			side = before(context, nodes[i].item, nodes[at].item) <= 0;
		}
		nodes[i].parent = parent;
		nodes[i].red = true;
		if (parent)
			nodes[parent].child[side] = i;
		else
			tree.root = i;
		rebalance(&tree, i);
	}
	size_t at = 0;
	uint32_t node = tree.root;
	while (node && nodes[node].child[0])
		node = nodes[node].child[0];
	while (node) {
		items[at++] = nodes[node].item;
		if (nodes[node].child[1]) {
			for (node = nodes[node].child[1]; nodes[node].child[0];)
				node = nodes[node].child[0];
			continue;
		}
		while (nodes[node].parent && side_of(&tree, node))
			node = nodes[node].parent;
		node = nodes[node].parent;
	}
	free(nodes);
}
