/* perf's collection `futex`: look-ups of futexes, and waking threads. */
#include <stdlib.h>
#include <sys/mman.h>

#include "analysis/stat/stat_table.h"
#include "base/memory.h"
#include "cmd/bench/futex.h"

enum { THREADS_MAX = 100000, FUTEXES_MAX = 1 << 24 };

int futexes_start(struct futexes *f, void *(*run)(void *), struct error *err)
{
	for (f->started = 0; f->started < f->threads; f->started++) {
		struct waiter *w = &f->waiters[f->started];
		errno = pthread_create(&w->thread, NULL, run, w);
		if (errno)
			return error_system(err, "cannot start a thread");
	}
	while (atomic_load(&f->ready) < f->threads)
		usleep(100);
	return 0;
}

void futexes_join(struct futexes *f)
{
	for (unsigned i = 0; i < f->started; i++)
		pthread_join(f->waiters[i].thread, NULL);
}

static int check(struct cli *cli, struct futexes *f, const struct bench_options *options, const struct command *command)
{
	struct error err = { 0 };
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	*f = (struct futexes){ .options = options, .threads = options->threads ? options->threads : online > 0 ? (unsigned)online : 1 };
	if (f->threads > THREADS_MAX)
		error_set(&err, ERROR_USAGE, "-t takes at most %d threads", THREADS_MAX);
	else if (!options->futexes || options->futexes > FUTEXES_MAX)
		error_set(&err, ERROR_USAGE, "-f takes a number of futexes from 1 to %d", FUTEXES_MAX);
	else if (!options->seconds || !options->wakes || !options->requeues)
		error_set(&err, ERROR_USAGE, "-r, -w and -q take numbers from 1 on");
	if (err.text[0])
		return cli_usage(cli, command, &err);
	if (options->lock_memory && mlockall(MCL_CURRENT | MCL_FUTURE) < 0) {
		error_system(&err, "memory cannot be locked");
		return cli_complain(cli, &err);
	}
	f->waiters = memory_resize(NULL, f->threads, sizeof *f->waiters);
	memset(f->waiters, 0, f->threads * sizeof *f->waiters);
	for (unsigned i = 0; i < f->threads; i++)
		f->waiters[i].all = f;
	return 0;
}

/* The futexes have another value than the one waited for, so that each wait is a look-up. */
static void *hash_thread(void *context)
{
	struct waiter *w = context;
	const struct bench_options *options = w->all->options;
	uint64_t operations = 0;
	atomic_fetch_add(&w->all->ready, 1);
	while (!atomic_load_explicit(&w->all->stop, memory_order_relaxed))
		for (unsigned i = 0; i < options->futexes; i++, operations++)
			futex_call(options, &w->words[i], FUTEX_WAIT, 1);
	w->operations = operations;
	return NULL;
}

static void print_hash(const struct cli *cli, const struct futexes *f, double seconds)
{
	const struct bench_options *options = f->options;
	struct stat_spread spread = { 0 };
	for (unsigned i = 0; i < f->threads; i++) {
		const struct waiter *w = &f->waiters[i];
		double rate = (double)w->operations / seconds;
		stat_spread_add(&spread, rate);
		if (!options->silent)
			writer_printf(cli->out, "[thread %2u] futexes: %p ... %p [ %.0f ops/sec ]\n", i, (const void *)w->words,
				(const void *)&w->words[options->futexes - 1], rate);
	}
	writer_printf(cli->out, "%sAveraged %.0f operations/sec (+- %.2f%%), total secs = %.0f\n", options->silent ? "" : "\n", spread.mean,
		stat_spread_percent(&spread), seconds);
}

static int measure_hash(struct cli *cli, struct futexes *f, struct error *err)
{
	const struct bench_options *options = f->options;
	for (unsigned i = 0; i < f->threads; i++) {
		f->waiters[i].words = memory_resize(NULL, options->futexes, sizeof *f->waiters[i].words);
		memset((void *)f->waiters[i].words, 0, options->futexes * sizeof *f->waiters[i].words);
	}
	writer_printf(cli->out, "Run summary [PID %d]: %u threads, each operating on %u [%s] futexes for %u secs.\n\n", (int)getpid(), f->threads,
		options->futexes, futex_kind(options), options->seconds);
	writer_flush(cli->out, NULL);
	int status = futexes_start(f, hash_thread, err);
	uint64_t begin = now_ns();
	if (status == 0)
		sleep(options->seconds);
	atomic_store(&f->stop, true);
	futexes_join(f);
	if (status == 0)
		print_hash(cli, f, (double)(now_ns() - begin) / 1e9);
	for (unsigned i = 0; i < f->threads; i++)
		free((void *)f->waiters[i].words);
	return status;
}

void *futex_wait_thread(void *context)
{
	struct waiter *w = context;
	atomic_fetch_add(&w->all->ready, 1);
	while (futex_call(w->all->options, w->words, FUTEX_WAIT, 0) < 0 && errno == EINTR)
		continue;
	return NULL;
}

void futexes_release(struct futexes *f)
{
	atomic_store(&f->word, 1);
	futex_call(f->options, &f->word, FUTEX_WAKE, INT32_MAX);
	futex_call(f->options, &f->target, FUTEX_WAKE, INT32_MAX);
	futexes_join(f);
}

int futexes_wait(struct futexes *f, struct error *err)
{
	atomic_store(&f->word, 0);
	atomic_store(&f->ready, 0);
	for (unsigned i = 0; i < f->threads; i++)
		f->waiters[i].words = &f->word;
	if (futexes_start(f, futex_wait_thread, err) < 0) {
		futexes_release(f);
		return -1;
	}
	usleep(FUTEX_SETTLE_US);
	return 0;
}

static int wake_once(struct futexes *f, unsigned *woken, double *ms, struct error *err)
{
	*woken = 0;
	if (futexes_wait(f, err) < 0)
		return -1;
	uint64_t begin = now_ns(), limit = begin + 10000000000;
	while (*woken < f->threads && now_ns() < limit) {
		long n = futex_call(f->options, &f->word, FUTEX_WAKE, f->options->wakes);
		*woken += n > 0 ? (unsigned)n : 0;
	}
	*ms = (double)(now_ns() - begin) / 1e6;
	futexes_release(f);
	return 0;
}

static int measure_wake(struct cli *cli, struct futexes *f, struct error *err)
{
	const struct bench_options *options = f->options;
	struct stat_spread times = { 0 }, counts = { 0 };
	unsigned runs = options->runs ? options->runs : FUTEX_RUNS, woken;
	writer_printf(cli->out, "Run summary [PID %d]: blocking on %u threads (at [%s] futex %p), waking up %u at a time.\n\n", (int)getpid(),
		f->threads, futex_kind(options), (void *)&f->word, options->wakes);
	for (unsigned run = 1; run <= runs; run++) {
		double ms;
		if (wake_once(f, &woken, &ms, err) < 0)
			return -1;
		stat_spread_add(&times, ms);
		stat_spread_add(&counts, woken);
		if (!options->silent)
			writer_printf(cli->out, "[Run %u]: Wokeup %u of %u threads in %.4f ms\n", run, woken, f->threads, ms);
	}
	writer_printf(cli->out, "Wokeup %.0f of %u threads in %.4f ms (+-%.2f%%)\n", counts.mean, f->threads, times.mean,
		stat_spread_percent(&times));
	return 0;
}

static int run(struct cli *cli, const struct bench_options *options, const struct command *command,
	int (*measure)(struct cli *cli, struct futexes *f, struct error *err))
{
	struct futexes f;
	struct error err;
	int status = check(cli, &f, options, command);
	if (status)
		return status;
	status = measure(cli, &f, &err);
	free(f.waiters);
	return status < 0 ? cli_complain(cli, &err) : 0;
}

#define COMMON_ROWS \
	OPT_UINT('t', "threads", struct bench_options, threads, "threads (default: as many as CPUs are online)"), \
	OPT_BOOL('s', "silent", struct bench_options, silent, "no line for each thread or run"), \
	OPT_BOOL('S', "shared", struct bench_options, shared, "futexes that processes could share"), \
	OPT_BOOL('m', "mlockall", struct bench_options, lock_memory, "lock all memory")
#define SECONDS_ROW OPT_UINT('r', "runtime", struct bench_options, seconds, "seconds of the run (default: 10)")

static const struct option hash_table[] = {
	COMMON_ROWS,
	SECONDS_ROW,
	OPT_UINT('f', "futexes", struct bench_options, futexes, "futexes of each thread (default: 1024)"),
	OPT_END(),
};
static const struct option wake_table[] = {
	COMMON_ROWS,
	OPT_UINT('w', "nwakes", struct bench_options, wakes, "threads that one call wakes (default: 1)"),
	OPT_END(),
};
static const struct option parallel_table[] = {
	COMMON_ROWS,
	OPT_UINT('w', "nwakers", struct bench_options, wakers, "threads that wake (default: as many as wait)"),
	OPT_END(),
};
static const struct option requeue_table[] = {
	COMMON_ROWS,
	OPT_UINT('q', "nrequeue", struct bench_options, requeues, "threads that one call moves (default: 1)"),
	OPT_BOOL('B', "broadcast", struct bench_options, broadcast, "one call moves all threads"),
	OPT_END(),
};
static const struct option lock_table[] = {
	COMMON_ROWS,
	SECONDS_ROW,
	OPT_BOOL('M', "multi", struct bench_options, multiple, "a futex for each thread"),
	OPT_END(),
};
static const char *const hash_usage[] = { "perf bench futex hash [<options>]", NULL };
static const char *const wake_usage[] = { "perf bench futex wake [<options>]", NULL };
static const char *const parallel_usage[] = { "perf bench futex wake-parallel [<options>]", NULL };
static const char *const requeue_usage[] = { "perf bench futex requeue [<options>]", NULL };
static const char *const lock_usage[] = { "perf bench futex lock-pi [<options>]", NULL };
static const char *const futex_usage[] = { "perf bench futex {hash|wake|wake-parallel|requeue|lock-pi|all} [<options>]", NULL };

static int hash_run(struct cli *cli, void *options, int argc, const char **argv);
static int wake_run(struct cli *cli, void *options, int argc, const char **argv);
static int parallel_run(struct cli *cli, void *options, int argc, const char **argv);
static int requeue_run(struct cli *cli, void *options, int argc, const char **argv);
static int lock_run(struct cli *cli, void *options, int argc, const char **argv);

#define FUTEX_BENCH(word, text, with) { .name = (word), .summary = (text), .usage = with##_usage, .options = with##_table, \
	.options_size = sizeof(struct bench_options), .run = with##_run }
enum { HASH, WAKE, PARALLEL, REQUEUE, LOCK };
static const struct command benchmarks[] = {
	[HASH] = FUTEX_BENCH("hash", "look-ups of futexes", hash),
	[WAKE] = FUTEX_BENCH("wake", "waking the threads that wait for a futex", wake),
	[PARALLEL] = FUTEX_BENCH("wake-parallel", "the same by several threads at once", parallel),
	[REQUEUE] = FUTEX_BENCH("requeue", "moving waiting threads to another futex", requeue),
	[LOCK] = FUTEX_BENCH("lock-pi", "locks with priority inheritance", lock),
};
static const struct command *const list[] = {
	&benchmarks[HASH], &benchmarks[WAKE], &benchmarks[PARALLEL], &benchmarks[REQUEUE], &benchmarks[LOCK], NULL
};
static const char *const words[] = { "hash", "wake", "wake-parallel", "requeue", "lock-pi", "all", NULL };
static const struct option no_options[] = { OPT_END() };

static int hash_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run(cli, options, &benchmarks[HASH], measure_hash);
}

static int wake_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run(cli, options, &benchmarks[WAKE], measure_wake);
}

static int parallel_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run(cli, options, &benchmarks[PARALLEL], futex_wake_parallel_measure);
}

static int requeue_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run(cli, options, &benchmarks[REQUEUE], futex_requeue_measure);
}

static int lock_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run(cli, options, &benchmarks[LOCK], futex_lock_measure);
}

static int collection_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return bench_collection_run(cli, "futex", list, options, argc, argv);
}

const struct command command_bench_futex = {
	.name = "futex", .summary = "look-ups of futexes, waking threads, locks", .usage = futex_usage, .options = no_options,
	.options_size = sizeof(struct bench_options), .options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = collection_run, .subcommands = words,
};
