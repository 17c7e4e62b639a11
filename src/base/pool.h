/* A pool of threads that run pure jobs over immutable inputs. The calling thread works, too: pool_run returns when all jobs of the call are
 * done. */
#pragma once
#include <stddef.h>

struct pool;

unsigned pool_cpus(void); /* the number of CPUs that this process may run on */

/* threads 0: the number of CPUs that this process may run on. With 1, no thread is started. */
struct pool *pool_new(unsigned threads);
void pool_free(struct pool *pool); /* accepts NULL */
unsigned pool_workers(const struct pool *pool); /* includes the caller; jobs get a worker in [0, this) */

typedef void pool_job(void *context, size_t job, unsigned worker);

/* Calls run(context, job, worker) for each job in [0, jobs), started in order. */
void pool_run(struct pool *pool, size_t jobs, pool_job *run, void *context);

/* The same in two parts, between which the caller does something else: the other threads have begun when pool_start returns (with one
 * worker or one job, all is done then); the caller helps in pool_finish. */
void pool_start(struct pool *pool, size_t jobs, pool_job *run, void *context);
/* The same, but a single job runs on another thread, too, if there is one. */
void pool_start_apart(struct pool *pool, size_t jobs, pool_job *run, void *context);
void pool_finish(struct pool *pool);
