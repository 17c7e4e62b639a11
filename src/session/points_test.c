#include "session/points.h"

#include "unit.h"

static struct point *intern(struct points *points, uint32_t module, uint64_t offset, unsigned cpumode)
{
	return points_intern(points, point_hash(points, module, offset, cpumode), module, offset, cpumode);
}

TEST("a point is one for each module, offset and mode, and does not move while others are made")
{
	enum { MODULES = 7, OFFSETS = 3000 };
	static struct point *known[MODULES * OFFSETS];
	struct points points = { 0 };
	for (uint32_t i = 0; i < MODULES * OFFSETS; i++) {
		known[i] = intern(&points, i % MODULES, i / MODULES * 16, i % 2 + 1);
		EXPECT_INT(known[i]->id, i);
		EXPECT(points_get(&points, i) == known[i]);
		EXPECT_INT((uintptr_t)known[i] % 64, 0);
		EXPECT_INT(known[i]->note[0], 0);
	}
	EXPECT_INT(points.count, MODULES * OFFSETS);
	for (uint32_t i = 0; i < MODULES * OFFSETS; i++) {
		EXPECT(intern(&points, i % MODULES, i / MODULES * 16, i % 2 + 1) == known[i]);
		EXPECT_INT(known[i]->module, i % MODULES);
		EXPECT_INT(known[i]->offset, i / MODULES * 16);
		EXPECT_INT(known[i]->cpumode, i % 2 + 1);
	}
	EXPECT(points_bytes(&points) >= MODULES * OFFSETS * sizeof(struct point));
	points_fini(&points);
	EXPECT_INT(points_bytes(&points), 0);
	EXPECT_INT(intern(&points, 1, 1, 1)->id, 0);
	points_fini(&points);
}

TEST("a point takes at most 112 bytes, as documented, however many there are")
{
	enum { FEW = 20000, MOST = 300000, POINT_BYTES = 112 };
	struct points points = { 0 };
	for (uint32_t i = 0; i < MOST; i++) {
		intern(&points, 1, i, 2);
		EXPECT(i < FEW || points_bytes(&points) <= (size_t)(i + 1) * POINT_BYTES + POINT_SLAB * sizeof(struct point));
	}
	points_fini(&points);
}

TEST("points whose hashes are equal are distinct")
{
	struct points points = { 0 };
	struct point *first = points_intern(&points, 5, 1, 0x10, 2);
	EXPECT(points_intern(&points, 5, 1, 0x20, 2) != first);
	EXPECT(points_intern(&points, 5, 2, 0x10, 2) != first);
	EXPECT(points_intern(&points, 5, 1, 0x10, 1) != first);
	EXPECT(points_intern(&points, 5, 1, 0x10, 2) == first);
	EXPECT_INT(points.count, 4);
	points_fini(&points);
}
