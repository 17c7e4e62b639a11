#include "base/radix.h"

#include "base/memory.h"
#include "base/pool.h"
#include "unit.h"

/* Keys that differ in the bits of `mask` only. */
static void fill(struct radix *radix, uint64_t mask)
{
	uint64_t seed = 99;
	for (size_t i = 0; i < radix->count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		radix->items[i] = (struct radix_item){ (0x123456789abcdef0u & ~mask) | ((seed ^ seed >> 29) & mask), (uint32_t)i };
	}
}

/* Whether each item occurs once, by rising key, equal ones by rising value. */
static bool is_sorted(const struct radix *radix, uint64_t keys)
{
	uint64_t values = 0;
	for (size_t i = 0; i < radix->count; i++) {
		const struct radix_item *item = &radix->items[i], *last = i ? item - 1 : NULL;
		values += item->value;
		keys -= item->key;
		if (last && (last->key > item->key || (last->key == item->key && last->value >= item->value)))
			return false;
	}
	return !keys && values == (uint64_t)radix->count * (radix->count - 1) / 2;
}

TEST("numbers are sorted by the bits in which their keys differ, equal keys in their order, with any number of threads")
{
	static const size_t counts[] = { 0, 1, 2, 24, 25, 4096, 4097, 32769, 100001 };
	static const uint64_t masks[] = { 0, 1, 0x7, 0xffff, 0xff00ff0000u, 1ull << 63, 0x80000000000fffffu, UINT64_MAX };
	for (unsigned threads = 0; threads <= 4; threads++) {
		struct pool *pool = threads ? pool_new(threads) : NULL;
		for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
			for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
				struct radix radix;
				radix_init(&radix, counts[c]);
				fill(&radix, masks[m]);
				uint64_t keys = 0;
				for (size_t i = 0; i < radix.count; i++)
					keys += radix.items[i].key;
				radix_sort(&radix, pool);
				EXPECT(is_sorted(&radix, keys));
				radix_fini(&radix);
			}
		pool_free(pool);
	}
}

TEST("numbers are sorted by several keys, the last one first")
{
	enum { COUNT = 50000 };
	struct radix radix;
	struct pool *pool = pool_new(2);
	radix_init(&radix, COUNT);
	for (uint32_t i = 0; i < COUNT; i++)
		radix.items[i] = (struct radix_item){ i * 7919u % 100, i };
	radix_sort(&radix, pool);
	for (uint32_t i = 0; i < COUNT; i++)
		radix.items[i].key = radix.items[i].value * 104729u % 30;
	radix_sort(&radix, pool);
	for (uint32_t i = 1; i < COUNT; i++) {
		uint32_t a = radix.items[i - 1].value, b = radix.items[i].value;
		uint64_t x = a * 104729u % 30 * 100 + a * 7919u % 100, y = b * 104729u % 30 * 100 + b * 7919u % 100;
		EXPECT(x < y || (x == y && a < b));
	}
	radix_fini(&radix);
	pool_free(pool);
}

TEST("pointers follow the items, also no pointers")
{
	static char letters[] = "abc";
	void *pointers[] = { &letters[0], &letters[1], &letters[2] };
	struct radix radix;
	radix_init(&radix, 3);
	radix.items[0] = (struct radix_item){ 1, 2 };
	radix.items[1] = (struct radix_item){ 2, 0 };
	radix.items[2] = (struct radix_item){ 3, 1 };
	radix_apply(&radix, pointers);
	EXPECT(pointers[0] == &letters[2] && pointers[1] == &letters[0] && pointers[2] == &letters[1]);
	radix_fini(&radix);
	radix_init(&radix, 0);
	radix_apply(&radix, NULL);
	radix_fini(&radix);
}
