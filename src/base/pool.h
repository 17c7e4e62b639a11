/* A pool of threads that run pure jobs over immutable inputs. The calling thread works too: pool_run returns when all jobs of
 * the call are done. */
#pragma once
#include <stddef.h>

struct pool;

/* threads: 0 means as many as the CPUs this process may run on. One thread starts none. */
struct pool *pool_new(unsigned threads);
void pool_free(struct pool *pool); /* NULL is fine */
unsigned pool_workers(const struct pool *pool); /* the caller included; job functions see worker in [0, this) */

typedef void pool_job(void *context, size_t job, unsigned worker);

/* Runs run(context, 0 .. jobs-1, worker); jobs start in order. */
void pool_run(struct pool *pool, size_t jobs, pool_job *run, void *context);
