#include "base/rb_tree.h"

void rb_tree_init(struct rb_tree *tree, rb_side *side, void *context)
{
	*tree = (struct rb_tree){ .side = side, .context = context };
	(void)vec_add(&tree->nodes); /* node 0 means no node, and is black */
}

void rb_tree_fini(struct rb_tree *tree)
{
	vec_fini(&tree->nodes);
}

static bool side_of(const struct rb_tree *tree, uint32_t node)
{
	return tree->nodes.items[tree->nodes.items[node].parent].child[1] == node;
}

/* Rotates the child on the side opposite to `side` into node's position. */
static void rotate(struct rb_tree *tree, uint32_t node, bool side)
{
	struct rb_node *nodes = tree->nodes.items;
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
	struct rb_node *nodes = tree->nodes.items;
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

/* Searches for an equal item, or for the position of a new one: *parent and *right. */
static uint32_t descend(const struct rb_tree *tree, const void *item, uint32_t *parent, bool *right)
{
	const struct rb_node *nodes = tree->nodes.items;
	uint32_t at = tree->root;
	*parent = 0;
	*right = false;
	while (at) {
		/* the comparison takes long if the item is in no cache: the next one is one of these */
		__builtin_prefetch(nodes[nodes[at].child[0]].item);
		__builtin_prefetch(nodes[nodes[at].child[1]].item);
		int64_t side = tree->side(tree->context, item, nodes[at].item);
		if (!side)
			return at;
		*parent = at;
		*right = side > 0;
		at = nodes[at].child[*right];
	}
	return 0;
}

void rb_tree_attach(struct rb_tree *tree, uint32_t node, uint32_t parent, bool right)
{
	struct rb_node *made = &tree->nodes.items[node];
	made->parent = parent;
	made->child[0] = made->child[1] = 0;
	made->red = true;
	if (parent)
		tree->nodes.items[parent].child[right] = node;
	else
		tree->root = node;
	rebalance(tree, node);
}

void *rb_tree_put(struct rb_tree *tree, void *item)
{
	uint32_t parent;
	bool right;
	uint32_t same = descend(tree, item, &parent, &right);
	if (same)
		return tree->nodes.items[same].item;
	vec_push(&tree->nodes, ((struct rb_node){ .item = item }));
	rb_tree_attach(tree, (uint32_t)tree->nodes.count - 1, parent, right);
	return NULL;
}

static uint32_t leftmost(const struct rb_tree *tree, uint32_t node)
{
	while (node && tree->nodes.items[node].child[0])
		node = tree->nodes.items[node].child[0];
	return node;
}

uint32_t rb_tree_first(const struct rb_tree *tree)
{
	return leftmost(tree, tree->root);
}

uint32_t rb_tree_next(const struct rb_tree *tree, uint32_t node)
{
	const struct rb_node *nodes = tree->nodes.items;
	if (nodes[node].child[1])
		return leftmost(tree, nodes[node].child[1]);
	while (nodes[node].parent && side_of(tree, node))
		node = nodes[node].parent;
	return nodes[node].parent;
}

size_t rb_tree_items(const struct rb_tree *tree, void **items)
{
	size_t count = 0;
	for (uint32_t node = rb_tree_first(tree); node; node = rb_tree_next(tree, node))
		items[count++] = tree->nodes.items[node].item;
	return count;
}

void rb_order(void **items, size_t count, rb_side *side, void *context)
{
	struct rb_tree tree;
	rb_tree_init(&tree, side, context);
	vec_reserve(&tree.nodes, count + 1);
	for (size_t i = 0; i < count; i++)
		rb_tree_put(&tree, items[i]);
	rb_tree_items(&tree, items);
	rb_tree_fini(&tree);
}
