/* Threads and futexes of the collection `futex`. */
#pragma once
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/bench/bench.h"

enum { FUTEX_RUNS = 10, FUTEX_SETTLE_US = 100000 };

struct waiter {
	struct futexes *all;
	_Atomic uint32_t *words; /* of hash: its own; else one */
	uint64_t operations;
	pthread_t thread;
};

struct futexes {
	const struct bench_options *options;
	struct waiter *waiters;
	unsigned threads, started;
	_Atomic unsigned ready;
	atomic_bool stop;
	_Atomic uint32_t word;   /* that threads wait for; 1: they do not wait any longer */
	_Atomic uint32_t target; /* of requeue: where they are moved to */
};

static inline long futex_call(const struct bench_options *options, _Atomic uint32_t *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation | (options->shared ? 0 : FUTEX_PRIVATE_FLAG), value, NULL, NULL, 0);
}

static inline const char *futex_kind(const struct bench_options *options)
{
	return options->shared ? "shared" : "private";
}

/* Starts a thread for each waiter and waits until all run; after a failure fewer are started. */
int futexes_start(struct futexes *f, void *(*run)(void *), struct error *err);
void futexes_join(struct futexes *f);
/* A thread that waits for `word`. */
void *futex_wait_thread(void *context);
/* Starts threads that wait, and gives them time to. */
int futexes_wait(struct futexes *f, struct error *err);
/* Ends threads that wait, or are about to. */
void futexes_release(struct futexes *f);

/* Each prints its summary and its results. */
int futex_requeue_measure(struct cli *cli, struct futexes *f, struct error *err);
int futex_wake_parallel_measure(struct cli *cli, struct futexes *f, struct error *err);
int futex_lock_measure(struct cli *cli, struct futexes *f, struct error *err);
