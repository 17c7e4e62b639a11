/* `breakpoint`: what a process with breakpoints pays for the start and end of its threads, and what it costs to switch a breakpoint on and
 * off. A breakpoint is an inherited event (perf_event_open(2)), which every thread of the process has. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/vec.h"
#include "cmd/bench/bench.h"
#include "os/counter.h"

enum { REPEATS = 10, THREADS_MAX = 1 << 15, BREAKPOINTS_MAX = 1 << 10, WATCHED_BYTES = 4, READ_OR_WRITTEN = 3 };

/* Threads wait here until they may end. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	atomic_bool open;
};

struct breakpoints {
	const struct bench_options *options;
	unsigned repeats;
	_Atomic unsigned done;
	VEC(int) counters;
	int watched; /* what the breakpoints are set on */
};

static void gate_open(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	atomic_store(&gate->open, true);
	pthread_cond_broadcast(&gate->opened);
	pthread_mutex_unlock(&gate->lock);
}

static void *wait_asleep(void *context)
{
	struct gate *gate = context;
	pthread_mutex_lock(&gate->lock);
	while (!atomic_load(&gate->open))
		pthread_cond_wait(&gate->opened, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
	return NULL;
}

static void *wait_busily(void *context)
{
	struct gate *gate = context;
	while (!atomic_load_explicit(&gate->open, memory_order_relaxed))
		;
	return NULL;
}

/* Starts threads behind the first `*started`; stops at a failure. */
static int start_threads(pthread_t *threads, unsigned count, unsigned *started, void *(*run)(void *), void *context)
{
	for (unsigned i = 0; i < count; i++) {
		errno = pthread_create(&threads[*started], NULL, run, context);
		if (errno)
			return -1;
		++*started;
	}
	return 0;
}

static void join_threads(const pthread_t *threads, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static int set_breakpoints(struct breakpoints *b, unsigned count, struct error *err)
{
	const struct attr attr = {
		.type = ATTR_BREAKPOINT, .bp_type = READ_OR_WRITTEN, .config1 = (uintptr_t)&b->watched, .config2 = WATCHED_BYTES,
		.flags = 1ull << ATTR_INHERIT | 1ull << ATTR_EXCLUDE_KERNEL | 1ull << ATTR_EXCLUDE_HV,
	};
	for (unsigned i = 0; i < count; i++) {
		int counter = counter_open(&attr, 0, -1, -1, 0);
		errno = counter < 0 ? -counter : 0;
		if (counter < 0)
			return error_system(err, "cannot set breakpoint %u of %u", i + 1, count);
		vec_push(&b->counters, counter);
	}
	return 0;
}

static void remove_breakpoints(struct breakpoints *b)
{
	for (size_t i = 0; i < b->counters.count; i++)
		counter_close(b->counters.items[i]);
	vec_fini(&b->counters);
}

/* Starts and ends threads until this was done often enough by all threads that do it. Returns NULL, or a pointer if it failed. */
static void *start_and_end(void *context)
{
	struct breakpoints *b = context;
	unsigned count = b->options->started;
	pthread_t *threads = memory_zero(count + 1, sizeof *threads);
	bool failed = false;
	while (!failed && atomic_fetch_add(&b->done, 1) < b->repeats) {
		struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
		unsigned started = 0;
		failed = start_threads(threads, count, &started, wait_asleep, &gate) < 0;
		gate_open(&gate);
		join_threads(threads, started);
	}
	free(threads);
	return failed ? b : NULL;
}

static int run_starters(struct breakpoints *b, struct error *err)
{
	unsigned count = b->options->parallel, started = 0;
	pthread_t *threads = memory_zero(count + 1, sizeof *threads);
	bool failed = start_threads(threads, count, &started, start_and_end, b) < 0;
	for (unsigned i = 0; i < started; i++) {
		void *result;
		pthread_join(threads[i], &result);
		failed |= result != NULL;
	}
	free(threads);
	return failed ? error_set(err, ERROR_SYSTEM, "cannot start %u threads", count * (b->options->started + 1)) : 0;
}

static int thread_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	const struct bench_options *options = filled;
	struct breakpoints b = { .options = options, .repeats = options->runs ? options->runs : REPEATS };
	struct error err = { 0 };
	if (!options->parallel || !options->started || options->breakpoints > BREAKPOINTS_MAX ||
	    (uint64_t)options->parallel * options->started > THREADS_MAX) {
		error_set(&err, ERROR_USAGE, "-p and -t take 1 and more threads, in all %d, and -b up to %d breakpoints", THREADS_MAX, BREAKPOINTS_MAX);
		return cli_usage(cli, &command_bench_breakpoint, &err);
	}
	int status = set_breakpoints(&b, options->breakpoints, &err);
	uint64_t begin = now_ns();
	if (status == 0)
		status = run_starters(&b, &err);
	uint64_t ns = now_ns() - begin;
	remove_breakpoints(&b);
	if (status < 0)
		return cli_complain(cli, &err);
	if (!bench_is_simple(options))
		writer_printf(cli->out, "# Created/joined %u threads with %u breakpoints and %u parallelism\n", b.repeats, options->breakpoints,
			options->parallel);
	bench_print_time(cli, options, ns);
	if (!bench_is_simple(options)) {
		double us = (double)(ns / 1000) / b.repeats / options->started;
		writer_printf(cli->out, "\n %14f usecs/op\n %14f usecs/op/cpu\n", us, us * options->parallel);
	}
	return 0;
}

static int switch_breakpoint(const struct breakpoints *b, struct error *err)
{
	for (unsigned i = 0; i < b->repeats; i++) {
		int failed = counter_disable(b->counters.items[0]);
		failed = failed ? failed : counter_enable(b->counters.items[0]);
		errno = -failed;
		if (failed)
			return error_system(err, "cannot switch the breakpoint");
	}
	return 0;
}

static int enable_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	const struct bench_options *options = filled;
	struct breakpoints b = { .options = options, .repeats = options->runs ? options->runs : REPEATS };
	struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	struct error err = { 0 };
	if ((uint64_t)options->passive + options->active > THREADS_MAX) {
		error_set(&err, ERROR_USAGE, "-p and -a take %d threads in all", THREADS_MAX);
		return cli_usage(cli, &command_bench_breakpoint, &err);
	}
	unsigned started = 0;
	pthread_t *threads = memory_zero(options->passive + options->active + 1, sizeof *threads);
	int status = set_breakpoints(&b, 1, &err);
	if (status == 0 && (start_threads(threads, options->passive, &started, wait_asleep, &gate) < 0 ||
	    start_threads(threads, options->active, &started, wait_busily, &gate) < 0))
		status = error_system(&err, "cannot start a thread");
	uint64_t begin = now_ns();
	if (status == 0)
		status = switch_breakpoint(&b, &err);
	uint64_t ns = now_ns() - begin;
	gate_open(&gate);
	join_threads(threads, started);
	free(threads);
	remove_breakpoints(&b);
	if (status < 0)
		return cli_complain(cli, &err);
	if (!bench_is_simple(options))
		writer_printf(cli->out, "# Enabled/disabled breakpoint %u time with %u passive and %u active threads\n", b.repeats, options->passive,
			options->active);
	bench_print_time(cli, options, ns);
	if (!bench_is_simple(options))
		writer_printf(cli->out, "\n %14f usecs/op\n", (double)(ns / 1000) / b.repeats);
	return 0;
}

static const struct option thread_table[] = {
	OPT_UINT('b', "breakpoints", struct bench_options, breakpoints, "breakpoints that each thread has (default: 1)"),
	OPT_UINT('p', "parallelism", struct bench_options, parallel, "threads that start others (default: 1)"),
	OPT_UINT('t', "threads", struct bench_options, started, "threads that each of them starts at a time (default: 1)"),
	OPT_END(),
};
static const struct option enable_table[] = {
	OPT_UINT('p', "passive", struct bench_options, passive, "other threads, which sleep (default: 0)"),
	OPT_UINT('a', "active", struct bench_options, active, "other threads, which run (default: 0)"),
	OPT_END(),
};
static const char *const breakpoint_usage[] = { "perf bench breakpoint {thread|enable|all} [<options>]", NULL };

static const struct command benchmarks[] = {
	{ .name = "thread", .summary = "start and end threads of a process with breakpoints", .usage = breakpoint_usage, .options = thread_table,
	  .options_size = sizeof(struct bench_options), .run = thread_run },
	{ .name = "enable", .summary = "switch a breakpoint off and on", .usage = breakpoint_usage, .options = enable_table,
	  .options_size = sizeof(struct bench_options), .run = enable_run },
};
static const struct command *const list[] = { &benchmarks[0], &benchmarks[1], NULL };
static const char *const words[] = { "thread", "enable", "all", NULL };
static const struct option no_options[] = { OPT_END() };

static int collection_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return bench_collection_run(cli, "breakpoint", list, options, argc, argv);
}

const struct command command_bench_breakpoint = {
	.name = "breakpoint", .summary = "hardware breakpoints", .usage = breakpoint_usage, .options = no_options,
	.options_size = sizeof(struct bench_options), .options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = collection_run, .subcommands = words,
};
