#include "base/pool.h"

#include <stdatomic.h>
#include <unistd.h>

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

TEST("jobs of a round that was started are done when it is finished")
{
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct tally tally = { 0 };
		struct pool *pool = pool_new(threads);
		for (int round = 0; round < 50; round++) {
			pool_start(pool, 1000, count_job, &tally);
			pool_finish(pool);
		}
		for (int i = 0; i < 1000; i++)
			EXPECT(atomic_load(&tally.done[i]) == 50);
		pool_start(pool, 0, count_job, &tally);
		pool_finish(pool);
		pool_run(pool, 2, count_job, &tally);
		EXPECT(atomic_load(&tally.done[1]) == 51 && atomic_load(&tally.done[2]) == 50);
		pool_free(pool);
	}
}

struct handshake {
	atomic_bool caller_came, job_came;
};

static void meet_caller(void *context, size_t job, unsigned worker)
{
	struct handshake *hands = context;
	atomic_store(&hands->job_came, true);
	while (worker && !atomic_load(&hands->caller_came))
		;
}

TEST("a single job that was started apart runs while its caller goes on, or in the caller if there is no other thread")
{
	for (unsigned threads = 1; threads <= 3; threads++) {
		struct handshake hands = { 0 };
		struct pool *pool = pool_new(threads);
		pool_start_apart(pool, 1, meet_caller, &hands);
		while (!atomic_load(&hands.job_came))
			; /* no other thread but the job's ends this */
		atomic_store(&hands.caller_came, true);
		pool_finish(pool);
		pool_start_apart(pool, 0, meet_caller, &hands);
		pool_finish(pool);
		pool_free(pool);
	}
}

static unsigned threads_now(void)
{
	char line[128];
	unsigned threads = 0;
	FILE *status = fopen("/proc/self/status", "re");
	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "Threads: %u", &threads) == 1)
			break;
	if (status)
		fclose(status);
	return threads;
}

/* The fewest within 100 ms, or until they are `expected`: the kernel counts a thread that has been joined for a moment longer. */
static unsigned threads_soon(unsigned expected)
{
	unsigned fewest = threads_now();
	for (unsigned i = 0; i < 50 && fewest > expected; i++) {
		usleep(2000);
		unsigned now = threads_now();
		fewest = now < fewest ? now : fewest;
	}
	return fewest;
}

TEST("the threads of a pool have ended when it is freed")
{
	unsigned before = threads_soon(1);
	struct pool *pool = pool_new(4);
	EXPECT_INT(threads_now(), before + 3);
	pool_free(pool);
	EXPECT_INT(threads_soon(before), before);
}
