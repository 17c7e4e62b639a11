#include "analysis/count/address_hits.h"

#include <stdlib.h>

#include "unit.h"

TEST("addresses have the sums of their samples, by address space and mode, in the order of their first samples")
{
	enum { ADDRESSES = 5000, ROUNDS = 3 };
	static _Alignas(16) char roots[2][16];
	struct address_hits hits = { 0 };
	for (uint64_t round = 0; round < ROUNDS; round++)
		for (uint64_t i = 0; i < ADDRESSES; i++)
			address_hits_add(&hits, (const struct map_node *)roots[i % 2], 1 + i % 4 / 2, i / 4 * 16, 10 + round,
				&(struct address_first){ .clock = round * ADDRESSES + i, .thread = 1, .cpu = 2, .tid = 3 });
	struct address_hit *all = address_hits_take(&hits);
	EXPECT_INT(hits.count, ADDRESSES);
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		EXPECT_INT(all[i].address, i / 4 * 16);
		EXPECT(address_hit_root(&all[i]) == (const struct map_node *)roots[i % 2]);
		EXPECT_INT(address_hit_cpumode(&all[i]), 1 + i % 4 / 2);
		EXPECT_INT(all[i].samples, ROUNDS);
		EXPECT_INT(all[i].period, 33);
		EXPECT_INT(hits.firsts.items[i].clock, i);
	}
	free(all);
	address_hits_fini(&hits);
}

TEST("a few samples, or none, are counted, too")
{
	struct address_hits hits = { 0 };
	struct address_hit *all = address_hits_take(&hits);
	EXPECT_INT(hits.count, 0);
	free(all);
	address_hits_add(&hits, NULL, 3, 0, 7, NULL);
	all = address_hits_take(&hits);
	EXPECT_INT(hits.count, 1);
	EXPECT(!address_hit_root(all) && address_hit_cpumode(all) == 3 && all->samples == 1 && all->period == 7);
	free(all);
	address_hits_fini(&hits);
}
