#include "render/text/folded.h"

#include <stdlib.h>

#include "unit.h"

static void add(struct flame_builder *builder, const char *const *names, uint64_t weight)
{
	uint32_t node = STACK_ROOT;
	for (; *names; names++)
		node = flame_builder_push(builder, node, flame_builder_frame(builder, *names, "", FLAME_USER));
	flame_builder_add(builder, node, weight, 1);
}

#define STACK(...) ((const char *const[]){ __VA_ARGS__, NULL })

static char *written(struct flame_builder *builder)
{
	struct flame_tree tree;
	struct writer out;
	flame_tree_make(&tree, builder, 0);
	writer_open(&out, -1, 0);
	folded_write(&out, &tree);
	char *text = memory_alloc(out.len + 1);
	memcpy(text, out.buffer, out.len);
	text[out.len] = '\0';
	writer_fini(&out);
	flame_tree_fini(&tree);
	return text;
}

TEST("folded lines are in the order of their bytes, also if one name is the beginning of another")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	add(&builder, STACK("a", "c"), 1);
	add(&builder, STACK("a!b", "d"), 2);
	add(&builder, STACK("a"), 3);
	add(&builder, STACK("a!b"), 4);
	add(&builder, STACK("a<b"), 5);
	add(&builder, STACK("a", "c", "\xc3\xa4"), 6);
	char *text = written(&builder);
	EXPECT_STR(text, "a 3\na!b 4\na!b;d 2\na;c 1\na;c;\xc3\xa4 6\na<b 5\n");
	free(text);
	flame_builder_fini(&builder);
}

TEST("folded text of an empty tree is empty, and of a large weight whole")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	char *text = written(&builder);
	EXPECT_STR(text, "");
	free(text);
	add(&builder, STACK("x"), UINT64_MAX);
	text = written(&builder);
	EXPECT_STR(text, "x 18446744073709551615\n");
	free(text);
	flame_builder_fini(&builder);
}
