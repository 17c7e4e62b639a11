/* A tree of named frames with weights, ready to be drawn or written as text: nodes in preorder, siblings in order of their names.
 * The builder takes frames and stacks in any order. Knows no sample, no session and no output. */
#pragma once
#include <stdint.h>

#include "analysis/stack.h"
#include "base/str.h"

/* What colour a frame gets. */
enum flame_kind {
	FLAME_ROOT,    /* the whole */
	FLAME_TASK,    /* a command, process or thread */
	FLAME_USER,
	FLAME_KERNEL,
	FLAME_INLINE,
	FLAME_JIT,
	FLAME_UNKNOWN, /* no symbol */
	FLAME_KIND_COUNT
};

struct flame_frame {
	const char *name, *module; /* module "" where there is none to tell; both without control characters */
	enum flame_kind kind;
};

struct flame_node {
	uint32_t frame, depth;     /* depth 0: the root, node 0 */
	uint32_t end;              /* index behind the node's last descendant */
	uint64_t self, weight;     /* weight: its own and its descendants' */
	uint64_t self_samples, samples;
};

struct flame_tree {
	struct flame_node *nodes;
	uint32_t count;
	const struct flame_frame *frames; /* the builder's */
	uint32_t max_depth;
	uint64_t dropped;                 /* nodes that were too light to be kept */
};

struct flame_weight {
	uint64_t weight, samples;
};

/* By node of some stacks: what ended there. */
struct flame_weights {
	struct flame_weight *items;
	size_t count, capacity;
};

struct flame_builder {
	struct stacks stacks;
	struct flame_weights weights;
	VEC(struct flame_frame) frames;
	struct strtab texts;
	struct tuples keys;
	struct arena arena;
};

void flame_builder_init(struct flame_builder *builder);
void flame_builder_fini(struct flame_builder *builder); /* also of a zeroed one; trees made from it go first */

/* The frame of this name, module and kind. Texts are copied and made printable. */
uint32_t flame_builder_frame(struct flame_builder *builder, const char *name, const char *module, enum flame_kind kind);
/* The stack with one more frame; STACK_ROOT is the empty one. */
uint32_t flame_builder_push(struct flame_builder *builder, uint32_t parent, uint32_t frame);
void flame_builder_add(struct flame_builder *builder, uint32_t node, uint64_t weight, uint64_t samples);
struct flame_weight flame_builder_total(const struct flame_builder *builder);

/* Nodes lighter than `least` are left out with all that is above them, and counted. Node 0 is a frame "all". */
void flame_tree_make(struct flame_tree *tree, struct flame_builder *builder, uint64_t least);
void flame_tree_fini(struct flame_tree *tree);

static inline uint64_t flame_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Zero at first; until the next growth. */
static inline struct flame_weight *flame_weight_of(struct flame_weights *weights, uint32_t node)
{
	if (node >= weights->count) {
		vec_reserve(weights, (size_t)node + 1);
		memset(weights->items + weights->count, 0, (node + 1 - weights->count) * sizeof *weights->items);
		weights->count = (size_t)node + 1;
	}
	return &weights->items[node];
}
