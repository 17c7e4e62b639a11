#include "analysis/flame/flame_tree.h"

#include "unit.h"

/* Adds a stack such as "a;b;c". */
static void add_stack(struct flame_builder *builder, const char *stack, uint64_t weight)
{
	uint32_t node = STACK_ROOT;
	char name[64];
	for (const char *p = stack; *p;) {
		size_t len = strcspn(p, ";");
		snprintf(name, sizeof name, "%.*s", (int)len, p);
		node = flame_builder_push(builder, node, flame_builder_frame(builder, name, "", FLAME_USER));
		p += len + (p[len] == ';');
	}
	flame_builder_add(builder, node, weight, 1);
}

TEST("the weight of a frame is the sum of the stacks that end in it or below it")
{
	struct flame_builder builder;
	struct flame_tree tree;
	flame_builder_init(&builder);
	add_stack(&builder, "main;b", 10);
	add_stack(&builder, "main;a;x", 5);
	add_stack(&builder, "main;b", 1);
	add_stack(&builder, "main", 2);
	EXPECT_INT(flame_builder_total(&builder).weight, 18);
	EXPECT_INT(flame_builder_total(&builder).samples, 4);
	flame_tree_make(&tree, &builder, 0);
	const char *const names[] = { "all", "main", "a", "x", "b" };
	const unsigned weights[] = { 18, 18, 5, 5, 11 }, selfs[] = { 0, 2, 0, 5, 11 }, depths[] = { 0, 1, 2, 3, 2 },
		ends[] = { 5, 5, 4, 4, 5 };
	EXPECT_INT(tree.count, 5);
	for (unsigned i = 0; i < 5; i++) {
		EXPECT_STR(tree.frames[tree.nodes[i].frame].name, names[i]);
		EXPECT_INT(tree.nodes[i].weight, weights[i]);
		EXPECT_INT(tree.nodes[i].self, selfs[i]);
		EXPECT_INT(tree.nodes[i].depth, depths[i]);
		EXPECT_INT(tree.nodes[i].end, ends[i]);
	}
	EXPECT_INT(tree.max_depth, 3);
	flame_tree_fini(&tree);
	flame_builder_fini(&builder);
}

TEST("in a comparison a frame is as wide as the mean of both shares, or as one, and has the weights of both recordings")
{
	const enum flame_widths widths[] = { FLAME_WIDTH_BOTH, FLAME_WIDTH_OLD, FLAME_WIDTH_NEW };
	const double shares[][3] = { { 0.35, 0.5, 0.15 }, { 0.5, 0.5, 0 }, { 0.2, 0.5, 0.3 } }; /* a, b, c */
	for (int w = 0; w < 3; w++) {
		struct flame_builder builder;
		struct flame_tree tree;
		flame_builder_init(&builder);
		add_stack(&builder, "main;a", 50);
		add_stack(&builder, "main;b", 50);
		flame_builder_end_side(&builder, FLAME_OLD);
		add_stack(&builder, "main;a", 40);
		add_stack(&builder, "main;b", 100);
		add_stack(&builder, "main;c", 60);
		flame_builder_end_side(&builder, FLAME_NEW);
		flame_builder_compare(&builder, widths[w]);
		flame_tree_make(&tree, &builder, 0);
		EXPECT_INT(tree.count, widths[w] == FLAME_WIDTH_OLD ? 4 : 5);
		EXPECT_INT(tree.sides[0][FLAME_OLD].weight, 100);
		EXPECT_INT(tree.sides[1][FLAME_NEW].weight, 200);
		EXPECT_INT(tree.sides[2][FLAME_NEW].weight, 40);
		EXPECT_INT(tree.own_sides[1][FLAME_NEW].weight, 0);
		uint64_t sum = 0;
		for (unsigned i = 2; i < tree.count; i++) {
			double share = (double)tree.nodes[i].weight / (double)FLAME_WHOLE, wanted = shares[w][i - 2];
			EXPECT(share > wanted - 1e-9 && share < wanted + 1e-9);
			sum += tree.nodes[i].weight;
		}
		EXPECT_INT(tree.nodes[1].weight, sum);
		flame_tree_fini(&tree);
		flame_builder_fini(&builder);
	}
}

TEST("frames below the minimum weight are omitted with their descendants and counted")
{
	struct flame_builder builder;
	struct flame_tree tree;
	flame_builder_init(&builder);
	add_stack(&builder, "main;light;leaf", 3);
	add_stack(&builder, "main;heavy", 97);
	flame_tree_make(&tree, &builder, 4);
	EXPECT_INT(tree.count, 3);
	EXPECT_INT(tree.dropped, 2);
	EXPECT_INT(tree.nodes[1].weight, 100);
	EXPECT_STR(tree.frames[tree.nodes[2].frame].name, "heavy");
	flame_tree_fini(&tree);
	flame_builder_fini(&builder);
}

TEST("a flame tree without samples is the root alone")
{
	struct flame_builder builder;
	struct flame_tree tree;
	flame_builder_init(&builder);
	flame_tree_make(&tree, &builder, 0);
	EXPECT_INT(tree.count, 1);
	EXPECT_INT(tree.nodes[0].weight, 0);
	EXPECT_INT(tree.nodes[0].end, 1);
	flame_tree_fini(&tree);
	flame_builder_fini(&builder);
}

TEST("the order of a flame tree does not depend on the order of the samples")
{
	static const char *const stacks[] = { "a;z", "a;b;c", "c", "a;b", "b;a" };
	char seen[2][256] = { { 0 } };
	for (int turn = 0; turn < 2; turn++) {
		struct flame_builder builder;
		struct flame_tree tree;
		flame_builder_init(&builder);
		for (int i = 0; i < 5; i++)
			add_stack(&builder, stacks[turn ? 4 - i : i], 1);
		flame_tree_make(&tree, &builder, 0);
		for (uint32_t i = 0; i < tree.count; i++)
			snprintf(seen[turn] + strlen(seen[turn]), 20, "%u%s ", tree.nodes[i].depth, tree.frames[tree.nodes[i].frame].name);
		flame_tree_fini(&tree);
		flame_builder_fini(&builder);
	}
	EXPECT_STR(seen[0], "0all 1a 2b 3c 2z 1b 2a 1c ");
	EXPECT_STR(seen[1], seen[0]);
}

TEST("weights of a flame tree saturate instead of wrapping")
{
	struct flame_builder builder;
	struct flame_tree tree;
	flame_builder_init(&builder);
	add_stack(&builder, "a;b", UINT64_MAX - 1);
	add_stack(&builder, "a;c", UINT64_MAX - 1);
	flame_tree_make(&tree, &builder, 0);
	EXPECT(tree.nodes[0].weight == UINT64_MAX);
	EXPECT(tree.nodes[1].weight == UINT64_MAX);
	flame_tree_fini(&tree);
	flame_builder_fini(&builder);
}

TEST("control characters in a frame's name are replaced, and equal frames are interned")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	uint32_t a = flame_builder_frame(&builder, "evil\x1b[2J", "m", FLAME_USER);
	EXPECT_STR(builder.frames.items[a].name, "evil?[2J");
	EXPECT_INT(flame_builder_frame(&builder, "evil\x1b[2J", "m", FLAME_USER), a);
	EXPECT(flame_builder_frame(&builder, "evil\x1b[2J", "other", FLAME_USER) != a);
	EXPECT(flame_builder_frame(&builder, "evil\x1b[2J", "m", FLAME_JIT) != a);
	flame_builder_fini(&builder);
}
