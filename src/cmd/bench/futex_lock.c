#include <stdlib.h>

#include "analysis/stat/stat_table.h"
#include "base/memory.h"
#include "cmd/bench/futex.h"

/* Locks and unlocks by system calls, although the lock may be free; sleeps while it has the lock, so that others wait. */
static void *lock_thread(void *context)
{
	struct waiter *w = context;
	const struct bench_options *options = w->all->options;
	uint64_t operations = 0;
	atomic_fetch_add(&w->all->ready, 1);
	while (!atomic_load_explicit(&w->all->stop, memory_order_relaxed)) {
		while (futex_call(options, w->words, FUTEX_LOCK_PI, 0) < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		usleep(1);
		if (futex_call(options, w->words, FUTEX_UNLOCK_PI, 0) < 0)
			break;
		operations++;
	}
	w->operations = operations;
	return NULL;
}

int futex_lock_measure(struct cli *cli, struct futexes *f, struct error *err)
{
	const struct bench_options *options = f->options;
	struct stat_spread spread = { 0 };
	_Atomic uint32_t *words = memory_zero(f->threads, sizeof *words);
	for (unsigned i = 0; i < f->threads; i++)
		f->waiters[i].words = options->multiple ? &words[i] : &words[0];
	writer_printf(cli->out, "Run summary [PID %d]: %u threads doing pi lock/unlock pairing for %u secs.\n\n", (int)getpid(), f->threads,
		options->seconds);
	writer_flush(cli->out, NULL);
	int status = futexes_start(f, lock_thread, err);
	uint64_t begin = now_ns();
	if (status == 0)
		sleep(options->seconds);
	atomic_store(&f->stop, true);
	futexes_join(f);
	double seconds = (double)(now_ns() - begin) / 1e9;
	for (unsigned i = 0; i < f->threads && status == 0; i++) {
		double rate = (double)f->waiters[i].operations / seconds;
		stat_spread_add(&spread, rate);
		if (!options->silent)
			writer_printf(cli->out, "[thread %3u] futex: %p [ %.0f ops/sec ]\n", i, (void *)f->waiters[i].words, rate);
	}
	if (status == 0)
		writer_printf(cli->out, "%sAveraged %.0f operations/sec (+- %.2f%%), total secs = %.0f\n", options->silent ? "" : "\n", spread.mean,
			stat_spread_percent(&spread), seconds);
	free((void *)words);
	return status;
}
