#include "symbol/tree.h"

#include <stdlib.h>

#include "unit.h"

/* The black height below node, or -1 if a rule is violated; counts nodes and checks parents and order. */
static int tree_check(const struct tree *t, uint32_t node, uint32_t *last, unsigned *count)
{
	if (!node)
		return 0;
	uint32_t left = t->left[node], right = t->right[node];
	bool links = (!left || t->parent[left] == node) && (!right || t->parent[right] == node);
	bool reds = !t->red[node] || (!t->red[left] && !t->red[right]);
	int a = tree_check(t, left, last, count);
	bool order = *last < node;
	*last = node;
	++*count;
	int b = tree_check(t, right, last, count);
	return links && reds && order && a >= 0 && a == b ? a + !t->red[node] : -1;
}

static void tree_add(struct tree *t, uint32_t node)
{
	uint32_t parent = 0;
	for (uint32_t at = t->root; at; at = node < at ? t->left[at] : t->right[at])
		parent = at;
	tree_insert(t, node, parent, node < parent);
}

TEST("a tree stays balanced and in order across insertions and removals")
{
	enum { NODES = 500 };
	struct tree t;
	bool present[NODES + 1] = { false };
	unsigned standing = 0, seed = 1;
	tree_init(&t, NODES);
	for (unsigned step = 0; step < 5000; step++) {
		seed = seed * 1103515245 + 12345;
		uint32_t node = seed / 65536 % NODES + 1;
		if (present[node])
			tree_erase(&t, node);
		else
			tree_add(&t, node);
		standing += present[node] ? -1 : 1;
		present[node] = !present[node];
		uint32_t last = 0;
		unsigned count = 0;
		EXPECT(tree_check(&t, t.root, &last, &count) >= 0 && !t.red[t.root]);
		EXPECT_INT(count, standing);
	}
	tree_fini(&t);
}
