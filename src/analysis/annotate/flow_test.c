#include "analysis/annotate/flow.h"

#include <stdlib.h>

#include "unit.h"

/* A symbol at offset 0x80 of module 0 with instructions of 2 bytes. */
static void open_symbol(struct annotation *annotation, struct module *module, uint32_t instructions)
{
	*annotation = (struct annotation){ .module = module, .size = instructions * 2 };
	for (uint32_t i = 0; i < instructions; i++) {
		struct annotated_line *line = vec_add(&annotation->lines);
		*line = (struct annotated_line){ .kind = ANNOTATED_CODE, .offset = i * 2, .mnemonic = "nop", .operands = "", .number = i };
		vec_push(&annotation->code, i);
	}
}

TEST("blocks give each instruction its coverage, and branches and targets their shares")
{
	struct module module = { .kind = MODULE_FILE };
	struct annotation annotation;
	struct blocks blocks = { 0 };
	open_symbol(&annotation, &module, 6);
	/* 3 runs of [0, 4], of which 2 were predicted, and 1 of [2, 8] */
	vec_push(&blocks.items, ((struct block){ 0, 0x80, 0x84, 3, 2, 3, 30, 5, 15 }));
	vec_push(&blocks.items, ((struct block){ 0, 0x82, 0x88, 1, 0, 0, 0, UINT32_MAX, 0 }));
	blocks_sort(&blocks);
	flow_make(&annotation, &blocks, 0x80);
	const struct annotated_line *lines = annotation.lines.items;
	EXPECT(annotation.flow.known && annotation.flow.recorded);
	EXPECT(lines[0].flow.coverage == 0.75 && lines[1].flow.coverage == 1 && lines[2].flow.coverage == 1);
	EXPECT(lines[3].flow.coverage == 0.25 && lines[4].flow.coverage == 0.25 && !lines[5].flow.covered);
	EXPECT(lines[0].flow.entered == 75 && lines[1].flow.entered == 25 && lines[2].flow.entered == 0);
	EXPECT(lines[2].flow.left == 75 && lines[4].flow.left == 100 && lines[3].flow.left == 0);
	EXPECT(lines[2].flow.predicted > 66.6 && lines[2].flow.predicted < 66.7);
	EXPECT_INT(lines[2].flow.cycles, 10);
	EXPECT_INT(lines[2].flow.least, 5);
	EXPECT_INT(lines[2].flow.most, 15);
	EXPECT(lines[2].flow.ipc > 0.299 && lines[2].flow.ipc < 0.301); /* 3 instructions in 10 cycles */
	EXPECT(lines[4].flow.ipc == 0);
	annotation_fini(&annotation);
	blocks_fini(&blocks);
}

TEST("blocks of other symbols and modules, and branches without a start, cover nothing")
{
	struct module module = { .kind = MODULE_FILE };
	struct annotation annotation;
	struct blocks blocks = { 0 };
	open_symbol(&annotation, &module, 2);
	vec_push(&blocks.items, ((struct block){ 1, 0x80, 0x82, 1, 0, 0, 0, 0, 0 }));
	vec_push(&blocks.items, ((struct block){ 0, 0x84, 0x86, 1, 0, 0, 0, 0, 0 }));
	vec_push(&blocks.items, ((struct block){ 0, 0x70, 0x80, 1, 0, 1, 6, 6, 6 }));
	vec_push(&blocks.items, ((struct block){ 0, BLOCK_NO_START, 0x82, 0, 0, 2, 9, 4, 5 }));
	blocks_sort(&blocks);
	flow_make(&annotation, &blocks, 0x80);
	for (size_t i = 0; i < 2; i++)
		EXPECT(!annotation.lines.items[i].flow.covered && annotation.lines.items[i].flow.ipc == 0);
	EXPECT_INT(annotation.lines.items[0].flow.cycles, 6);
	EXPECT_INT(annotation.lines.items[1].flow.cycles, 4);
	EXPECT_INT(annotation.flow.covered, 0);
	annotation_fini(&annotation);
	blocks_fini(&blocks);
}

TEST("a branch to itself has no instructions per cycle; of the blocks that end at a branch, the longest in the symbol has them")
{
	struct module module = { .kind = MODULE_FILE };
	struct annotation annotation;
	struct blocks blocks = { 0 };
	open_symbol(&annotation, &module, 4);
	vec_push(&blocks.items, ((struct block){ 0, 0x80, 0x80, 5, 0, 5, 20, 3, 5 }));
	vec_push(&blocks.items, ((struct block){ 0, 0x70, 0x86, 1, 0, 1, 2, 2, 2 })); /* begins before the symbol */
	vec_push(&blocks.items, ((struct block){ 0, 0x82, 0x86, 2, 0, 2, 12, 6, 6 }));
	vec_push(&blocks.items, ((struct block){ 0, 0x84, 0x86, 8, 0, 4, 4, 1, 1 }));
	blocks_sort(&blocks);
	flow_make(&annotation, &blocks, 0x80);
	EXPECT_INT(annotation.lines.items[0].flow.cycles, 4);
	EXPECT(annotation.lines.items[0].flow.ipc == 0);
	EXPECT(annotation.lines.items[3].flow.ipc == 0.5); /* 3 instructions in 6 cycles */
	EXPECT_INT(annotation.lines.items[3].flow.runs, 7);
	EXPECT_INT(annotation.lines.items[3].flow.cycles, 2); /* 18 in 7 runs */
	EXPECT_INT(annotation.flow.covered, 1);
	EXPECT_INT(annotation.flow.cycles, 12);
	EXPECT_INT(annotation.flow.instructions, 6);
	annotation_fini(&annotation);
	blocks_fini(&blocks);
}

TEST("equal blocks of several workers are one")
{
	struct blocks a = { 0 }, b = { 0 };
	size_t count;
	vec_push(&b.items, ((struct block){ 0, 0x80, 0x84, 3, 2, 3, 30, 5, 15 }));
	vec_push(&b.items, ((struct block){ 0, 0x80, 0x84, 1, 1, 1, 2, 2, 2 }));
	vec_push(&b.items, ((struct block){ 0, 0x80, 0x85, 1, 1, 1, 2, 2, 2 }));
	blocks_merge(&a, &b);
	blocks_sort(&a);
	const struct block *found = blocks_in(&a, 0, 0x84, 0x85, &count);
	EXPECT_INT(count, 1);
	EXPECT_INT(found->runs, 4);
	EXPECT_INT(found->predicted, 3);
	EXPECT_INT(found->cycles, 32);
	EXPECT_INT(found->least, 2);
	EXPECT_INT(found->most, 15);
	blocks_in(&a, 0, 0x86, 0x100, &count);
	EXPECT_INT(count, 0);
	blocks_fini(&a);
}
