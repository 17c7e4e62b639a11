#include "base/rb_tree.h"

#include "unit.h"

struct item {
	int key, number;
};

/* Larger keys precede; an item follows equal ones. */
static int64_t behind_equals(void *context, const void *item, const void *existing)
{
	return ((const struct item *)item)->key > ((const struct item *)existing)->key ? -1 : 1;
}

static int64_t same_found(void *context, const void *item, const void *existing)
{
	return ((const struct item *)existing)->key - ((const struct item *)item)->key;
}

TEST("with a strict weak order, the order of a tree is a stable sort")
{
	struct item items[500];
	void *pointers[500];
	unsigned random = 1;
	for (int i = 0; i < 500; i++) {
		random = random * 1103515245 + 12345;
		items[i] = (struct item){ (int)(random >> 16) % 50, i };
		pointers[i] = &items[i];
	}
	rb_order(pointers, 500, behind_equals, NULL);
	for (int i = 1; i < 500; i++) {
		const struct item *before = pointers[i - 1], *item = pointers[i];
		EXPECT(before->key > item->key || (before->key == item->key && before->number < item->number));
	}
}

TEST("an item that the tree contains is found and not inserted again")
{
	struct rb_tree tree;
	struct item items[100];
	rb_tree_init(&tree, same_found, NULL);
	for (int i = 0; i < 100; i++) {
		items[i] = (struct item){ i * 37 % 100, i };
		EXPECT(rb_tree_put(&tree, &items[i]) == NULL);
	}
	struct item again = { 42, 0 };
	const struct item *found = rb_tree_put(&tree, &again);
	EXPECT(found && found != &again && found->key == 42);
	EXPECT_INT(tree.nodes.count, 101);
	rb_tree_fini(&tree);
}

static int64_t always_behind(void *context, const void *item, const void *existing)
{
	return 1;
}

TEST("with an inconsistent comparison the tree still contains every item")
{
	int items[100], sum = 0;
	void *pointers[100];
	for (int i = 0; i < 100; i++) {
		items[i] = i;
		pointers[i] = &items[i];
	}
	rb_order(pointers, 100, always_behind, NULL);
	for (int i = 0; i < 100; i++)
		sum += *(int *)pointers[i];
	EXPECT_INT(sum, 4950);
}

TEST("an empty set of items can be ordered")
{
	rb_order(NULL, 0, always_behind, NULL);
}

/* The number of black nodes on each way down from a node; -1: the ways differ, or a red node has a red child. */
static int black_height(const struct rb_tree *tree, uint32_t node)
{
	if (!node)
		return 0;
	const struct rb_node *n = &tree->nodes.items[node];
	int left = black_height(tree, n->child[0]), right = black_height(tree, n->child[1]);
	for (int side = 0; side < 2; side++) {
		const struct rb_node *child = &tree->nodes.items[n->child[side]];
		if (n->child[side] && (child->parent != node || (n->red && child->red)))
			return -1;
	}
	return left < 0 || left != right ? -1 : left + !n->red;
}

TEST("after each insertion the tree is balanced as a red-black tree")
{
	enum { ITEMS = 300 };
	struct item items[ITEMS];
	void *listed[ITEMS];
	for (int pattern = 0; pattern < 4; pattern++) {
		struct rb_tree tree;
		unsigned random = 7;
		rb_tree_init(&tree, behind_equals, NULL);
		EXPECT_INT(rb_tree_items(&tree, listed), 0);
		for (int i = 0; i < ITEMS; i++) {
			random = random * 1103515245 + 12345;
			const int keys[] = { i, -i, i & 1 ? i : -i, (int)(random >> 16) };
			items[i] = (struct item){ keys[pattern], i };
			EXPECT(rb_tree_put(&tree, &items[i]) == NULL);
			EXPECT(!tree.nodes.items[tree.root].red);
			EXPECT(black_height(&tree, tree.root) > 0);
			EXPECT_INT(rb_tree_items(&tree, listed), i + 1);
		}
		rb_tree_fini(&tree);
	}
}
