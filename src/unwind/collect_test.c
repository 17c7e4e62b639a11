#include "unwind/collect.h"

#include "unit.h"

/* Makes entries that cover consecutive code, written in the given order. */
static struct collection pieces_in(const uint32_t *order, uint32_t count)
{
	struct collection c = { 0 };
	for (uint32_t i = 0; i < count; i++)
		vec_push(&c.pieces, ((struct piece){ .start = 0x1000 + 16ull * order[i], .end = 0x1010 + 16ull * order[i],
			.function = 0x1000 + 16ull * order[i], .program = order[i], .rank = 1 }));
	return c;
}

static unsigned misplaced(const struct collection *c)
{
	unsigned wrong = 0;
	for (uint32_t i = 0; i < c->pieces.count; i++)
		wrong += c->pieces.items[i].program != i || c->pieces.items[i].start != 0x1000 + 16ull * i;
	return wrong;
}

enum orders { ASCENDING, DESCENDING, FIRST_LAST, THREE_ROWS, MANY_ROWS, SHUFFLED, ORDERS };

static void make_order(uint32_t *order, uint32_t count, enum orders kind)
{
	uint64_t seed = 3;
	uint32_t rows = kind == THREE_ROWS ? 3 : 40, at = 0;
	for (uint32_t i = 0; i < count; i++)
		order[i] = kind == DESCENDING ? count - 1 - i : kind == FIRST_LAST ? (i + count - 1) % count : i;
	for (uint32_t row = rows; (kind == THREE_ROWS || kind == MANY_ROWS) && row--;)
		for (uint32_t i = row; i < count; i += rows)
			order[at++] = i;
	for (uint32_t i = count - 1; kind == SHUFFLED && i; i--) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint32_t other = (uint32_t)((seed >> 33) % (i + 1)), swap = order[i];
		order[i] = order[other];
		order[other] = swap;
	}
}

TEST("entries are sorted by address, in whatever order they were written")
{
	enum { MANY = 20000 };
	static uint32_t order[MANY];
	static const uint32_t counts[] = { 0, 1, 2, 3, 41, 5000, MANY };
	for (unsigned n = 0; n < sizeof counts / sizeof *counts; n++)
		for (enum orders kind = 0; counts[n] && kind < ORDERS; kind++) {
			make_order(order, counts[n], kind);
			struct collection c = pieces_in(order, counts[n]);
			collection_order(&c);
			EXPECT_INT(c.pieces.count, counts[n]);
			EXPECT_INT(misplaced(&c), 0);
			collection_fini(&c);
		}
}

TEST("entries collected after the others were sorted are merged into them")
{
	static uint32_t order[1000];
	make_order(order, 1000, SHUFFLED);
	struct collection c = pieces_in(order, 990);
	collection_order(&c);
	struct collection late = pieces_in(order + 990, 10);
	for (unsigned i = 0; i < 10; i++)
		vec_push(&c.pieces, late.pieces.items[i]);
	collection_order(&c);
	EXPECT_INT(c.pieces.count, 1000);
	EXPECT_INT(misplaced(&c), 0);
	collection_order(&c); /* nothing was added */
	EXPECT_INT(misplaced(&c), 0);
	collection_fini(&late);
	collection_fini(&c);
}

TEST("where two entries cover the same code, the one of the better section is used, and of one section the first")
{
	struct collection c = { 0 };
	static const struct piece pieces[] = {
		{ .start = 0x1000, .end = 0x1100, .program = 1, .rank = 2 },
		{ .start = 0x1000, .end = 0x1080, .program = 2, .rank = 1 },
		{ .start = 0x2000, .end = 0x2100, .program = 3, .rank = 1 },
		{ .start = 0x2000, .end = 0x2200, .program = 4, .rank = 1 },
		{ .start = 0x3000, .end = 0x3100, .program = 5, .rank = 1 },
		{ .start = 0x3080, .end = 0x3200, .program = 6, .rank = 2 },
	};
	for (size_t i = sizeof pieces / sizeof *pieces; i--;)
		vec_push(&c.pieces, pieces[i]);
	collection_order(&c);
	EXPECT_INT(c.pieces.count, 4);
	EXPECT(c.pieces.items[0].program == 2 && c.pieces.items[1].program == 3 && c.pieces.items[2].program == 5);
	EXPECT(c.pieces.items[3].program == 6 && c.pieces.items[3].start == 0x3100);
	collection_fini(&c);
}
