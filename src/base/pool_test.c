#include "base/pool.h"

#include <stdatomic.h>

#include "unit.h"

struct tally {
	atomic_uint done[1000];
	atomic_uint worker_max;
};

static void count_job(void *context, size_t job, unsigned worker)
{
	struct tally *tally = context;
	atomic_fetch_add(&tally->done[job], 1);
	unsigned seen = atomic_load(&tally->worker_max);
	while (worker > seen && !atomic_compare_exchange_weak(&tally->worker_max, &seen, worker))
		;
}

TEST("every job runs once in every round, with any number of threads")
{
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct tally tally = { 0 };
		struct pool *pool = pool_new(threads);
		EXPECT_INT(pool_workers(pool), threads);
		for (int round = 0; round < 50; round++)
			pool_run(pool, 1000, count_job, &tally);
		for (int i = 0; i < 1000; i++)
			EXPECT(atomic_load(&tally.done[i]) == 50);
		EXPECT(atomic_load(&tally.worker_max) < threads);
		pool_free(pool);
	}
}

TEST("a round may have no job or one")
{
	struct tally tally = { 0 };
	struct pool *pool = pool_new(3);
	pool_run(pool, 0, count_job, &tally);
	EXPECT(atomic_load(&tally.done[0]) == 0);
	pool_run(pool, 1, count_job, &tally);
	EXPECT(atomic_load(&tally.done[0]) == 1);
	pool_free(pool);
	pool_free(NULL);
}
