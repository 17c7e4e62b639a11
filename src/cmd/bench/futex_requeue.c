#include <sched.h>
#include <stdlib.h>

#include "analysis/stat/stat_table.h"
#include "base/memory.h"
#include "cmd/bench/futex.h"

enum { LIMIT_NS = 2000000000 }; /* of a run: a thread that does not wait in time is left out */

/* Moves up to `most` threads from one futex to the other without waking one; returns how many. */
static long move_threads(struct futexes *f, unsigned most)
{
	int operation = FUTEX_CMP_REQUEUE | (f->options->shared ? 0 : FUTEX_PRIVATE_FLAG);
	return syscall(SYS_futex, &f->word, operation, 0, (unsigned long)most, &f->target, 0);
}

int futex_requeue_measure(struct cli *cli, struct futexes *f, struct error *err)
{
	const struct bench_options *options = f->options;
	struct stat_spread times = { 0 }, counts = { 0 };
	unsigned runs = options->runs ? options->runs : FUTEX_RUNS, at_once = options->requeues;
	at_once = options->broadcast || at_once > f->threads ? f->threads : at_once;
	writer_printf(cli->out, "Run summary [PID %d]: Requeuing %u threads (from [%s] %p to %p), %u at a time.\n\n", (int)getpid(), f->threads,
		futex_kind(options), (void *)&f->word, (void *)&f->target, at_once);
	for (unsigned run = 1; run <= runs; run++) {
		unsigned moved = 0;
		if (futexes_wait(f, err) < 0)
			return -1;
		uint64_t begin = now_ns();
		while (moved < f->threads && now_ns() - begin < LIMIT_NS) {
			long n = move_threads(f, at_once);
			moved += n > 0 ? (unsigned)n : 0;
		}
		double ms = (double)(now_ns() - begin) / 1e6;
		futexes_release(f);
		stat_spread_add(&times, ms);
		stat_spread_add(&counts, moved);
		if (!options->silent)
			writer_printf(cli->out, "[Run %u]: Requeued %u of %u threads in %.4f ms\n", run, moved, f->threads, ms);
	}
	writer_printf(cli->out, "Requeued %.0f of %u threads in %.4f ms (+-%.2f%%)\n", counts.mean, f->threads, times.mean,
		stat_spread_percent(&times));
	return 0;
}

/* A thread that wakes its share of those that wait. */
struct waker {
	struct futexes *f;
	_Atomic int *gate;       /* 0: not yet; 1: begin; 2: end */
	unsigned share;
	uint64_t ns;
	pthread_t thread;
};

static void *wake_thread(void *context)
{
	struct waker *w = context;
	unsigned woken = 0;
	int gate;
	while (!(gate = atomic_load(w->gate)))
		sched_yield();
	uint64_t begin = now_ns();
	while (gate == 1 && woken < w->share && now_ns() - begin < LIMIT_NS) {
		long n = futex_call(w->f->options, &w->f->word, FUTEX_WAKE, w->share - woken);
		woken += n > 0 ? (unsigned)n : 0;
	}
	w->ns = now_ns() - begin;
	return NULL;
}

static int wake_together(struct waker *wakers, unsigned count, struct error *err)
{
	_Atomic int gate = 0;
	unsigned started = 0;
	int status = 0;
	for (; started < count && status == 0; started += status == 0) {
		wakers[started].gate = &gate;
		errno = pthread_create(&wakers[started].thread, NULL, wake_thread, &wakers[started]);
		status = errno ? error_system(err, "cannot start a thread") : 0;
	}
	atomic_store(&gate, status == 0 ? 1 : 2);
	for (unsigned i = 0; i < started; i++)
		pthread_join(wakers[i].thread, NULL);
	return status;
}

int futex_wake_parallel_measure(struct cli *cli, struct futexes *f, struct error *err)
{
	const struct bench_options *options = f->options;
	struct stat_spread means = { 0 };
	unsigned runs = options->runs ? options->runs : FUTEX_RUNS, count = options->wakers ? options->wakers : f->threads;
	if (count > f->threads || f->threads % count)
		return error_set(err, ERROR_USAGE, "%u waiting threads cannot be divided among %u wakers", f->threads, count);
	struct waker *wakers = memory_zero(count, sizeof *wakers);
	int status = 0;
	writer_printf(cli->out, "Run summary [PID %d]: blocking on %u threads (at [%s] futex %p), %u threads waking up %u at a time.\n\n",
		(int)getpid(), f->threads, futex_kind(options), (void *)&f->word, count, f->threads / count);
	for (unsigned run = 1; run <= runs && status == 0; run++) {
		struct stat_spread times = { 0 };
		for (unsigned i = 0; i < count; i++)
			wakers[i] = (struct waker){ .f = f, .share = f->threads / count };
		status = futexes_wait(f, err);
		if (status < 0)
			break;
		status = wake_together(wakers, count, err);
		futexes_release(f);
		for (unsigned i = 0; i < count; i++)
			stat_spread_add(&times, (double)wakers[i].ns / 1e6);
		stat_spread_add(&means, times.mean);
		if (!options->silent && status == 0)
			writer_printf(cli->out, "[Run %u]: Avg per-thread latency (waking %u/%u threads) in %.4f ms (+-%.2f%%)\n", run,
				f->threads / count, f->threads, times.mean, stat_spread_percent(&times));
	}
	if (status == 0)
		writer_printf(cli->out, "Avg per-thread latency (waking %u/%u threads) in %.4f ms (+-%.2f%%)\n", f->threads / count, f->threads,
			means.mean, stat_spread_percent(&means));
	free(wakers);
	return status;
}
