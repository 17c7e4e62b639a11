#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	pthread_t *threads;
	unsigned workers;   /* including the caller */
	unsigned started;   /* running threads; may be fewer than requested */
	unsigned busy;      /* threads that still work on the current round */
	uint64_t round;     /* incremented by each pool_run */
	bool stop;
	pool_job *run;
	void *context;
	size_t jobs;
	atomic_size_t next;
};

struct starter {
	struct pool *pool;
	unsigned worker;
	int cpu; /* on which the thread starts; -1: any */
};

static void pool_work(struct pool *pool, unsigned worker)
{
	for (;;) {
		size_t job = atomic_fetch_add(&pool->next, 1);
		if (job >= pool->jobs)
			return;
		pool->run(pool->context, job, worker);
	}
}

/* A burst of work is shorter than the scheduler needs to find idle CPUs: each thread therefore starts on a CPU of its own. */
static void start_on(int cpu)
{
	cpu_set_t one, all;
	if (cpu < 0 || sched_getaffinity(0, sizeof all, &all) != 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) == 0)
		sched_setaffinity(0, sizeof all, &all);
}

static void *pool_thread(void *arg)
{
	struct starter starter = *(struct starter *)arg;
	free(arg);
	start_on(starter.cpu);
	struct pool *pool = starter.pool;
	uint64_t seen = 0;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (!pool->stop && pool->round == seen)
			pthread_cond_wait(&pool->work, &pool->lock);
		if (pool->stop)
			break;
		seen = pool->round;
		pthread_mutex_unlock(&pool->lock);
		pool_work(pool, starter.worker);
		pthread_mutex_lock(&pool->lock);
		if (--pool->busy == 0)
			pthread_cond_signal(&pool->done);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

unsigned pool_cpus(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	return 1;
}

/* The next CPU after `cpu` that this process may run on, cyclically; -1 if unknown. */
static int next_cpu(int cpu)
{
	cpu_set_t set;
	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set) != 0 || !CPU_COUNT(&set))
		return -1;
	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, &set));
	return cpu;
}

struct pool *pool_new(unsigned threads)
{
	int cpu = sched_getcpu();
	struct pool *pool = memory_zero(1, sizeof *pool);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, NULL);
	unsigned wanted = threads ? threads : pool_cpus();
	pool->workers = 1;
	pool->threads = memory_zero(wanted, sizeof *pool->threads);
	while (pool->workers < wanted) {
		struct starter *starter = memory_alloc(sizeof *starter);
		cpu = next_cpu(cpu);
		*starter = (struct starter){ .pool = pool, .worker = pool->workers, .cpu = cpu };
		if (pthread_create(&pool->threads[pool->started], NULL, pool_thread, starter) != 0) {
			free(starter);
			break;
		}
		pool->started++;
		pool->workers++;
	}
	return pool;
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->started; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->work);
	pthread_cond_destroy(&pool->done);
	free(pool->threads);
	free(pool);
}

unsigned pool_workers(const struct pool *pool)
{
	return pool->workers;
}

static void start(struct pool *pool, size_t jobs, size_t least, pool_job *run, void *context)
{
	if (pool->started == 0 || jobs < least) {
		for (size_t job = 0; job < jobs; job++)
			run(context, job, 0);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	pool->run = run;
	pool->context = context;
	pool->jobs = jobs;
	atomic_store(&pool->next, 0);
	pool->busy = pool->started;
	pool->round++;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

void pool_start(struct pool *pool, size_t jobs, pool_job *run, void *context)
{
	start(pool, jobs, 2, run, context);
}

void pool_start_apart(struct pool *pool, size_t jobs, pool_job *run, void *context)
{
	start(pool, jobs, 1, run, context);
}

void pool_finish(struct pool *pool)
{
	if (pool->started == 0)
		return;
	pool_work(pool, 0);
	pthread_mutex_lock(&pool->lock);
	while (pool->busy)
		pthread_cond_wait(&pool->done, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}

void pool_run(struct pool *pool, size_t jobs, pool_job *run, void *context)
{
	pool_start(pool, jobs, run, context);
	pool_finish(pool);
}
