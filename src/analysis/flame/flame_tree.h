/* A tree of named frames with weights, ready to be drawn or written as text: nodes in preorder, siblings in order of their names. The
 * builder accepts frames and stacks in any order. Independent of samples, sessions and output. */
#pragma once
#include <stdint.h>

#include "analysis/stack/stack.h"
#include "base/str.h"

/* Determines the colour of a frame. */
enum flame_kind {
	FLAME_ROOT,    /* the root of the tree */
	FLAME_TASK,    /* a comm, process or thread */
	FLAME_USER,
	FLAME_KERNEL,
	FLAME_INLINE,
	FLAME_JIT,
	FLAME_UNKNOWN, /* without a symbol */
	FLAME_KIND_COUNT
};

struct flame_frame {
	const char *name, *module; /* module "": unknown; both are printable */
	enum flame_kind kind;
};

struct flame_node {
	uint32_t frame, depth;     /* depth 0: the root, node 0 */
	uint32_t end;              /* index after the last descendant */
	uint64_t self, weight;     /* weight: with the descendants */
	uint64_t self_samples, samples;
};

struct flame_weight {
	uint64_t weight, samples;
};

/* The two recordings of a comparison. */
enum flame_side { FLAME_OLD, FLAME_NEW, FLAME_SIDES };

struct flame_tree {
	struct flame_node *nodes;
	struct flame_weight (*sides)[FLAME_SIDES]; /* by node: the weight of both recordings, with descendants; NULL: no comparison */
	struct flame_weight (*own_sides)[FLAME_SIDES]; /* and without them */
	uint32_t count;
	const struct flame_frame *frames; /* owned by the builder */
	uint32_t max_depth;
	uint64_t dropped;                 /* number of nodes below the minimum weight */
};

/* By node: the weight of the stacks that end there. */
struct flame_weights {
	struct flame_weight *items;
	size_t count, capacity;
};

/* What the width of a frame shows in a comparison: its share of one recording, or the mean of both shares. */
enum flame_widths { FLAME_WIDTH_BOTH, FLAME_WIDTH_OLD, FLAME_WIDTH_NEW };

struct flame_builder {
	struct stacks stacks;
	struct flame_weights weights;
	struct flame_weights sides[FLAME_SIDES]; /* of a comparison: by recording */
	bool compares;
	VEC(struct flame_frame) frames;
	struct strtab texts;
	struct tuples keys;
	struct arena arena;
};

void flame_builder_init(struct flame_builder *builder);
void flame_builder_fini(struct flame_builder *builder); /* a zeroed one is allowed; trees made from the builder must be freed before */

/* Returns the frame with this name, module and kind. Texts are copied and made printable. */
uint32_t flame_builder_frame(struct flame_builder *builder, const char *name, const char *module, enum flame_kind kind);
/* Returns the stack with one frame more; STACK_ROOT is the empty stack. */
uint32_t flame_builder_push(struct flame_builder *builder, uint32_t parent, uint32_t frame);
void flame_builder_add(struct flame_builder *builder, uint32_t node, uint64_t weight, uint64_t samples);
/* For a comparison: moves what was added since the last call, or since the beginning, to a side. */
void flame_builder_end_side(struct flame_builder *builder, enum flame_side side);
/* After both sides: makes the weights by which the tree is drawn; a whole recording is FLAME_WHOLE. */
#define FLAME_WHOLE ((uint64_t)1 << 40)
void flame_builder_compare(struct flame_builder *builder, enum flame_widths widths);
struct flame_weight flame_builder_total(const struct flame_builder *builder);

/* Makes the tree. Nodes with a weight below `least` are omitted with their descendants, and counted. Node 0 is a frame "all". */
void flame_tree_make(struct flame_tree *tree, struct flame_builder *builder, uint64_t least);
/* Bytes that making a tree takes for each node of the builder. */
size_t flame_tree_node_bytes(void);
void flame_tree_fini(struct flame_tree *tree);

static inline uint64_t flame_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Returns the weight of a node, 0 at first; the pointer is valid until the next call. */
static inline struct flame_weight *flame_weight_of(struct flame_weights *weights, uint32_t node)
{
	if (node >= weights->count) {
		vec_reserve(weights, (size_t)node + 1);
		memset(weights->items + weights->count, 0, (node + 1 - weights->count) * sizeof *weights->items);
		weights->count = (size_t)node + 1;
	}
	return &weights->items[node];
}
