#include "analysis/compare/streams.h"

#include "unit.h"

TEST("the cycles of a stream are the averages of its own branches, added up; a place without a branch has none")
{
	struct branch_marks marks[] = { { .branches = 1, .cycles = 1000 }, { .branches = 3, .cycles = 31 }, { 0 }, { .branches = 2, .cycles = 8 },
		{ .branches = 1, .cycles = 1000 } };
	const struct chain_tree tree = { .marks = marks }, plain = { 0 };
	const struct chain_node node = { .first_place = 1, .place_count = 3 };
	EXPECT_INT(stream_cycles(&(struct stream){ .tree = &tree, .node = &node }), 10 + 4);
	EXPECT_INT(stream_cycles(&(struct stream){ .tree = &plain, .node = &node }), 0);
}
