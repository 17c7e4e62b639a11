#include "rewrite/written_maps.h"

#include "unit.h"

TEST("a mapping is written once for each address space")
{
	struct written_maps w = { 0 };
	EXPECT(written_maps_add(&w, 1, 5, 10));
	EXPECT(!written_maps_add(&w, 1, 5, 11));
	EXPECT(written_maps_add(&w, 2, 5, 12));
	EXPECT(written_maps_add(&w, 1, 6, 13));
	written_maps_fini(&w);
}

TEST("what was written for the parent before the fork counts for the child, what was written since does not")
{
	struct written_maps w = { 0 };
	EXPECT(written_maps_add(&w, 1, 5, 9));
	EXPECT(written_maps_add(&w, 1, 6, 10));
	written_maps_fork(&w, 2, 1, 10);
	EXPECT(!written_maps_add(&w, 2, 5, 20));
	EXPECT(written_maps_add(&w, 2, 6, 20));
	written_maps_fini(&w);
}

TEST("a grandchild has what was written for its grandparent before both forks")
{
	struct written_maps w = { 0 };
	EXPECT(written_maps_add(&w, 1, 5, 9));
	written_maps_fork(&w, 2, 1, 10);
	EXPECT(written_maps_add(&w, 1, 6, 15));
	EXPECT(written_maps_add(&w, 2, 7, 15));
	written_maps_fork(&w, 3, 2, 20);
	EXPECT(!written_maps_add(&w, 3, 5, 30));
	EXPECT(written_maps_add(&w, 3, 6, 30));
	EXPECT(!written_maps_add(&w, 3, 7, 30));
	written_maps_fini(&w);
}

TEST("address spaces that were forked from each other end the search")
{
	struct written_maps w = { 0 };
	written_maps_fork(&w, 1, 2, 10);
	written_maps_fork(&w, 2, 1, 10);
	written_maps_fork(&w, 3, 3, 10);
	EXPECT(written_maps_add(&w, 1, 5, 20));
	EXPECT(written_maps_add(&w, 3, 5, 20));
	written_maps_fini(&w);
}

TEST("of a chain of forks the last 1000 count")
{
	enum { FORKS = 1000 };
	struct written_maps w = { 0 };
	EXPECT(written_maps_add(&w, 0, 5, 1));
	for (uint32_t i = 1; i <= FORKS + 1; i++)
		written_maps_fork(&w, i, i - 1, 1 + i);
	EXPECT(!written_maps_add(&w, FORKS, 5, 5000));
	EXPECT(written_maps_add(&w, FORKS + 1, 5, 5000));
	written_maps_fini(&w);
}
