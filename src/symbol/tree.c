#include "symbol/tree.h"

#include <stdlib.h>

#include "base/memory.h"

void tree_init(struct tree *tree, size_t capacity)
{
	*tree = (struct tree){
		.left = memory_zero(capacity + 1, sizeof *tree->left),
		.right = memory_zero(capacity + 1, sizeof *tree->right),
		.parent = memory_zero(capacity + 1, sizeof *tree->parent),
		.red = memory_zero(capacity + 1, 1),
	};
}

void tree_fini(struct tree *tree)
{
	free(tree->left);
	free(tree->right);
	free(tree->parent);
	free(tree->red);
	*tree = (struct tree){ 0 };
}

/* Replaces `node` by `by` in its parent. */
static void tree_replace(struct tree *t, uint32_t node, uint32_t by)
{
	uint32_t parent = t->parent[node];
	if (!parent)
		t->root = by;
	else if (t->left[parent] == node)
		t->left[parent] = by;
	else
		t->right[parent] = by;
	t->parent[by] = parent;
}

/* down[x] moves to x's position, x becomes its child: with (left, right) a left rotation, with (right, left) a right rotation. */
static void tree_rotate(struct tree *t, uint32_t *up, uint32_t *down, uint32_t x)
{
	uint32_t y = down[x];
	down[x] = up[y];
	if (up[y])
		t->parent[up[y]] = x;
	tree_replace(t, x, y);
	up[y] = x;
	t->parent[x] = y;
}

void tree_insert(struct tree *t, uint32_t node, uint32_t parent, int on_left)
{
	t->parent[node] = parent;
	t->left[node] = t->right[node] = 0;
	t->red[node] = 1;
	if (!parent)
		t->root = node;
	else
		(on_left ? t->left : t->right)[parent] = node;
	while (t->red[t->parent[node]]) {
		parent = t->parent[node];
		uint32_t grand = t->parent[parent];
		uint32_t *near = t->left[grand] == parent ? t->left : t->right;
		uint32_t *far = near == t->left ? t->right : t->left;
		uint32_t uncle = far[grand];
		if (t->red[uncle]) {
			t->red[parent] = t->red[uncle] = 0;
			t->red[grand] = 1;
			node = grand;
			continue;
		}
		if (node == far[parent]) {
			tree_rotate(t, near, far, parent);
			node = parent;
			parent = t->parent[node];
		}
		t->red[parent] = 0;
		t->red[grand] = 1;
		tree_rotate(t, far, near, grand);
	}
	t->red[t->root] = 0;
}

/* x has one black too many. */
static void tree_fix_erased(struct tree *t, uint32_t x)
{
	while (x != t->root && !t->red[x]) {
		uint32_t parent = t->parent[x];
		uint32_t *near = t->left[parent] == x ? t->left : t->right;
		uint32_t *far = near == t->left ? t->right : t->left;
		uint32_t sibling = far[parent];
		if (t->red[sibling]) {
			t->red[sibling] = 0;
			t->red[parent] = 1;
			tree_rotate(t, near, far, parent);
			sibling = far[parent];
		}
		if (!t->red[near[sibling]] && !t->red[far[sibling]]) {
			t->red[sibling] = 1;
			x = parent;
			continue;
		}
		if (!t->red[far[sibling]]) {
			t->red[near[sibling]] = 0;
			t->red[sibling] = 1;
			tree_rotate(t, far, near, sibling);
			sibling = far[parent];
		}
		t->red[sibling] = t->red[parent];
		t->red[parent] = 0;
		t->red[far[sibling]] = 0;
		tree_rotate(t, near, far, parent);
		x = t->root;
	}
	t->red[x] = 0;
}

void tree_erase(struct tree *t, uint32_t node)
{
	uint32_t next = node, hole;
	int lost_red = t->red[node];
	if (!t->left[node]) {
		hole = t->right[node];
		tree_replace(t, node, hole);
	} else if (!t->right[node]) {
		hole = t->left[node];
		tree_replace(t, node, hole);
	} else {
		for (next = t->right[node]; t->left[next];)
			next = t->left[next];
		lost_red = t->red[next];
		hole = t->right[next];
		if (t->parent[next] == node) {
			t->parent[hole] = next;
		} else {
			tree_replace(t, next, hole);
			t->right[next] = t->right[node];
			t->parent[t->right[next]] = next;
		}
		tree_replace(t, node, next);
		t->left[next] = t->left[node];
		t->parent[t->left[next]] = next;
		t->red[next] = t->red[node];
	}
	if (!lost_red)
		tree_fix_erased(t, hole);
	t->parent[0] = 0;
	t->red[0] = 0;
}
