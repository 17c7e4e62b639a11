#include "base/search.h"

#include <stdint.h>

#include "unit.h"

TEST("a search counts the items up to a key, and those below it, for each key and each number of items")
{
	enum { ITEMS = 9 };
	uint64_t items[ITEMS];
	for (uint64_t n = 0; n < ITEMS; n++)
		items[n] = 10 * (n + 1);
	for (size_t count = 0; count <= ITEMS; count++) {
		for (uint64_t key = 0; key <= 10 * ITEMS + 1; key++) {
			size_t up_to = key / 10 < count ? key / 10 : count, before = key ? (key - 1) / 10 : 0;
			EXPECT_INT(SEARCH_COUNT(count, i, items[i] <= key), up_to);
			EXPECT_INT(SEARCH_COUNT(count, i, items[i] < key), before < count ? before : count);
		}
	}
}

TEST("a search counts equal items together")
{
	static const uint64_t items[] = { 1, 5, 5, 5, UINT64_MAX, UINT64_MAX };
	EXPECT_INT(SEARCH_COUNT(6, i, items[i] < 5), 1);
	EXPECT_INT(SEARCH_COUNT(6, i, items[i] <= 5), 4);
	EXPECT_INT(SEARCH_COUNT(6, i, items[i] < UINT64_MAX), 4);
	EXPECT_INT(SEARCH_COUNT(6, i, items[i] <= UINT64_MAX), 6);
}

TEST("a search reads no item beyond the last")
{
	static const uint64_t items[] = { 1, 2, 3, 4, 5 };
	size_t beyond = 0;
	EXPECT_INT(SEARCH_COUNT(4, i, (beyond += i >= 4, items[i] <= 9)), 4);
	EXPECT_INT(beyond, 0);
}
