/* perf's collection `epoll`: threads that wait for events of many descriptors, or add, change and remove them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/stat/stat_table.h"
#include "base/memory.h"
#include "cmd/bench/bench.h"

enum { THREADS_MAX = 10000, DESCRIPTORS_MAX = 1 << 20, USUAL_DESCRIPTORS = 64 };

struct poller {
	struct epolls *all;
	int epoll;
	int *fds;
	uint64_t operations[3]; /* of wait: the first; of ctl: additions, changes, removals */
	pthread_t thread;
};

struct epolls {
	const struct bench_options *options;
	struct poller *list;
	int *fds;               /* of all, by thread */
	unsigned threads, started, each;
	int shared;             /* -1: each thread has an epoll instance */
	uint32_t events;
	_Atomic unsigned ready;
	atomic_bool stop;
};

static int open_all(struct epolls *e, bool watched, struct error *err)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (unsigned i = 0; i < e->threads; i++) {
		struct poller *p = &e->list[i];
		*p = (struct poller){ .all = e, .fds = e->fds + (size_t)i * e->each };
		p->epoll = e->shared >= 0 ? e->shared : epoll_create1(EPOLL_CLOEXEC);
		if (p->epoll < 0)
			return error_system(err, "cannot make an epoll instance");
		for (unsigned k = 0; k < e->each; k++) {
			p->fds[k] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
			struct epoll_event event = { .events = e->events, .data.fd = p->fds[k] };
			if (p->fds[k] < 0 || (watched && epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->fds[k], &event) < 0))
				return error_system(err, "cannot watch %u descriptors", e->threads * e->each);
		}
	}
	return 0;
}

static void *wait_thread(void *context)
{
	struct poller *p = context;
	struct epolls *e = p->all;
	struct epoll_event event;
	uint64_t value;
	atomic_fetch_add(&e->ready, 1);
	while (!atomic_load_explicit(&e->stop, memory_order_relaxed)) {
		int n = epoll_wait(p->epoll, &event, 1, e->options->nonblocking ? 0 : -1);
		if (n < 1)
			continue;
		p->operations[0] += read(event.data.fd, &value, sizeof value) == sizeof value;
		event.events = e->events;
		if (e->options->oneshot)
			epoll_ctl(p->epoll, EPOLL_CTL_MOD, event.data.fd, &event);
	}
	return NULL;
}

static void *control_thread(void *context)
{
	static const int operations[] = { EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };
	struct poller *p = context;
	struct epolls *e = p->all;
	atomic_fetch_add(&e->ready, 1);
	while (!atomic_load_explicit(&e->stop, memory_order_relaxed))
		for (unsigned kind = 0; kind < 3; kind++)
			for (unsigned k = 0; k < e->each; k++) {
				struct epoll_event event = { .events = kind == 1 ? EPOLLOUT : EPOLLIN, .data.fd = p->fds[k] };
				p->operations[kind] += epoll_ctl(p->epoll, operations[kind], p->fds[k], &event) == 0;
			}
	return NULL;
}

/* Makes events of all descriptors until the time is over, and then until no thread waits. */
static void make_events(struct epolls *e, uint64_t until_ns)
{
	const uint64_t one = 1;
	while (now_ns() < until_ns)
		for (size_t i = 0; i < (size_t)e->threads * e->each; i++)
			if (write(e->fds[i], &one, sizeof one) < 0)
				sched_yield(); /* the descriptor is full */
}

static void end_threads(struct epolls *e, bool waits)
{
	atomic_store(&e->stop, true);
	for (unsigned i = 0; i < e->started; i++) {
		while (waits && pthread_tryjoin_np(e->list[i].thread, NULL) != 0)
			make_events(e, now_ns() + 1000000);
		if (!waits)
			pthread_join(e->list[i].thread, NULL);
	}
}

static int run_threads(struct epolls *e, bool waits, uint64_t *ns, struct error *err)
{
	int status = 0;
	for (; e->started < e->threads && status == 0; e->started += status == 0) {
		errno = pthread_create(&e->list[e->started].thread, NULL, waits ? wait_thread : control_thread, &e->list[e->started]);
		status = errno ? error_system(err, "cannot start a thread") : 0;
	}
	while (status == 0 && atomic_load(&e->ready) < e->threads)
		usleep(100);
	uint64_t begin = now_ns(), until = begin + (uint64_t)e->options->seconds * 1000000000;
	if (status == 0 && waits)
		make_events(e, until);
	else if (status == 0)
		sleep(e->options->seconds);
	*ns = now_ns() - begin;
	end_threads(e, waits);
	return status;
}

static void print_waits(struct cli *cli, const struct epolls *e, double seconds)
{
	struct stat_spread spread = { 0 };
	for (unsigned i = 0; i < e->threads; i++) {
		double rate = (double)e->list[i].operations[0] / seconds;
		stat_spread_add(&spread, rate);
		writer_printf(cli->out, "[thread %2u] fdmap: %p ... %p [ %.0f ops/sec ]\n", i, (void *)e->list[i].fds,
			(void *)&e->list[i].fds[e->each - 1], rate);
	}
	writer_printf(cli->out, "\nAveraged %.0f operations/sec (+- %.2f%%), total secs = %.0f\n", spread.mean, stat_spread_percent(&spread),
		seconds);
}

static void print_controls(struct cli *cli, const struct epolls *e, double seconds)
{
	static const char *const names[] = { "ADD", "MOD", "DEL" };
	struct stat_spread spreads[3] = { 0 };
	for (unsigned i = 0; i < e->threads; i++) {
		const struct poller *p = &e->list[i];
		double rates[3];
		for (unsigned kind = 0; kind < 3; kind++) {
			rates[kind] = (double)p->operations[kind] / seconds;
			stat_spread_add(&spreads[kind], rates[kind]);
		}
		writer_printf(cli->out, "[thread %2u] fdmap: %p ... %p [ add: %.0f ops; mod: %.0f ops; del: %.0f ops ]\n", i, (void *)p->fds,
			(void *)&p->fds[e->each - 1], rates[0], rates[1], rates[2]);
	}
	writer_putc(cli->out, '\n');
	for (unsigned kind = 0; kind < 3; kind++)
		writer_printf(cli->out, "Averaged %.0f %s operations (+- %.2f%%)\n", spreads[kind].mean, names[kind],
			stat_spread_percent(&spreads[kind]));
}

static int check(struct epolls *e, struct error *err)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	const struct bench_options *options = e->options;
	e->threads = options->threads ? options->threads : online > 1 ? (unsigned)online - 1 : 1; /* one CPU makes events */
	e->each = options->descriptors ? options->descriptors : USUAL_DESCRIPTORS;
	if (e->threads > THREADS_MAX || e->each > DESCRIPTORS_MAX / e->threads)
		return error_set(err, ERROR_USAGE, "-t takes at most %d threads, and they have at most %d descriptors", THREADS_MAX, DESCRIPTORS_MAX);
	if (!options->seconds)
		return error_set(err, ERROR_USAGE, "-r takes seconds from 1 on");
	return 0;
}

static int measure(struct cli *cli, struct epolls *e, bool waits, struct error *err)
{
	uint64_t ns = 0;
	e->list = memory_zero(e->threads, sizeof *e->list);
	e->fds = memory_zero((size_t)e->threads * e->each, sizeof *e->fds);
	e->shared = waits && !e->options->several ? epoll_create1(EPOLL_CLOEXEC) : -1;
	writer_printf(cli->out, "Run summary [PID %d]: %u threads %s %u file-descriptors for %u secs.\n\n", (int)getpid(), e->threads,
		waits ? "monitoring on" : "doing epoll_ctl ops", e->each, e->options->seconds);
	writer_flush(cli->out, NULL);
	int status = open_all(e, waits, err);
	status = status < 0 ? status : run_threads(e, waits, &ns, err);
	if (status == 0 && waits)
		print_waits(cli, e, (double)ns / 1e9);
	else if (status == 0)
		print_controls(cli, e, (double)ns / 1e9);
	free(e->list);
	free(e->fds);
	return status; /* descriptors go with the process */
}

static int run(struct cli *cli, const struct bench_options *options, const struct command *command, bool waits)
{
	struct epolls e = { .options = options };
	struct error err;
	e.events = EPOLLIN | (options->edge ? EPOLLET : 0) | (options->oneshot ? EPOLLONESHOT : 0);
	if (check(&e, &err) < 0)
		return cli_usage(cli, command, &err);
	return measure(cli, &e, waits, &err) < 0 ? cli_complain(cli, &err) : 0;
}

#define COMMON_ROWS \
	OPT_UINT('t', "threads", struct bench_options, threads, "threads (default: online CPUs without one)"), \
	OPT_UINT('r', "runtime", struct bench_options, seconds, "seconds of the run (default: 10)"), \
	OPT_UINT('f', "nfds", struct bench_options, descriptors, "descriptors of each thread (default: 64)")

static const struct option wait_table[] = {
	COMMON_ROWS,
	OPT_BOOL('m', "multiq", struct bench_options, several, "an epoll instance for each thread"),
	OPT_BOOL('B', "nonblocking", struct bench_options, nonblocking, "epoll_wait(2) that returns at once"),
	OPT_BOOL('E', "edge", struct bench_options, edge, "EPOLLET: a report for each change"),
	OPT_BOOL('S', "oneshot", struct bench_options, oneshot, "EPOLLONESHOT: one report, then the descriptor is enabled again"),
	OPT_END(),
};
static const struct option control_table[] = { COMMON_ROWS, OPT_END() };
static const char *const wait_usage[] = { "perf bench epoll wait [<options>]", NULL };
static const char *const control_usage[] = { "perf bench epoll ctl [<options>]", NULL };
static const char *const epoll_usage[] = { "perf bench epoll {wait|ctl|all} [<options>]", NULL };

static int wait_run(struct cli *cli, void *options, int argc, const char **argv);
static int control_run(struct cli *cli, void *options, int argc, const char **argv);

static const struct command command_wait = {
	.name = "wait", .summary = "waiting for events of many descriptors", .usage = wait_usage, .options = wait_table,
	.options_size = sizeof(struct bench_options), .run = wait_run,
};
static const struct command command_control = {
	.name = "ctl", .summary = "adding, changing and removing descriptors", .usage = control_usage, .options = control_table,
	.options_size = sizeof(struct bench_options), .run = control_run,
};
static const struct command *const list[] = { &command_wait, &command_control, NULL };
static const char *const words[] = { "wait", "ctl", "all", NULL };
static const struct option no_options[] = { OPT_END() };

static int wait_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run(cli, options, &command_wait, true);
}

static int control_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run(cli, options, &command_control, false);
}

static int collection_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return bench_collection_run(cli, "epoll", list, options, argc, argv);
}

const struct command command_bench_epoll = {
	.name = "epoll", .summary = "waiting for events of many descriptors", .usage = epoll_usage, .options = no_options,
	.options_size = sizeof(struct bench_options), .options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = collection_run, .subcommands = words,
};
