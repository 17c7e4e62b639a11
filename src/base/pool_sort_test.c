#include "base/pool_sort.h"

#include "base/memory.h"
#include "base/pool.h"
#include "unit.h"

struct row {
	unsigned key, number;
};

static int by_key(const void *a, const void *b, void *context)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	++*(_Atomic size_t *)context;
	return (x->key > y->key) - (x->key < y->key);
}

static struct row *rows_new(size_t count, unsigned keys, void **items)
{
	struct row *rows = memory_resize(NULL, count + 1, sizeof *rows);
	unsigned seed = 12345;
	for (size_t i = 0; i < count; i++) {
		seed = seed * 1103515245 + 12345;
		rows[i] = (struct row){ seed / 65536 % keys, (unsigned)i };
		items[i] = &rows[i];
	}
	return rows;
}

/* Whether each row occurs once, by rising key, equal ones by rising number. */
static bool is_sorted(void **items, size_t count)
{
	uint64_t numbers = 0;
	for (size_t i = 0; i < count; i++) {
		const struct row *row = items[i], *last = i ? items[i - 1] : NULL;
		numbers += row->number;
		if (last && (last->key > row->key || (last->key == row->key && last->number >= row->number)))
			return false;
	}
	return numbers == (uint64_t)count * (count - 1) / 2;
}

TEST("rows are sorted by key, equal ones in their order, with any number of threads")
{
	static const size_t counts[] = { 0, 1, 2, 8192, 8193, 40000, 100001 };
	for (unsigned threads = 1; threads <= 5; threads++) {
		struct pool *pool = pool_new(threads);
		for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
			for (unsigned keys = 1; keys <= 20000; keys = keys * 50 + 1) {
				size_t count = counts[c];
				_Atomic size_t compared = 0;
				void **items = memory_resize(NULL, count + 1, sizeof *items);
				struct row *rows = rows_new(count, keys, items);
				pool_sort(pool, items, count, by_key, &compared);
				EXPECT(!count || is_sorted(items, count));
				free(rows);
				free(items);
			}
		pool_free(pool);
	}
}

TEST("merging on several threads costs few comparisons more than sorting on one")
{
	enum { COUNT = 200000 };
	size_t compared[2];
	void **items = memory_resize(NULL, COUNT, sizeof *items);
	for (unsigned i = 0; i < 2; i++) {
		struct pool *pool = pool_new(1 + 3 * i);
		_Atomic size_t count = 0;
		struct row *rows = rows_new(COUNT, 30000, items);
		pool_sort(pool, items, COUNT, by_key, &count);
		compared[i] = count;
		pool_free(pool);
		free(rows);
	}
	EXPECT(compared[1] < compared[0] + compared[0] / 20);
	free(items);
}
