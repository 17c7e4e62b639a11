/* perf's collection `sched`: groups of senders and receivers, and two tasks that pass a word back and forth. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/vec.h"
#include "cmd/bench/sched.h"

enum { MEMBERS = 20, MESSAGE_BYTES = 100, ROUNDS = 1000000, STACK_BYTES = 64 << 10, GROUPS_MAX = 10000 };

/* A sender writes to all receivers of its group, a receiver reads what all senders wrote. */
struct worker {
	int fds[MEMBERS];        /* of a receiver: the first alone */
	bool sends;
	unsigned loops;
	int ready, wake;         /* a byte to the former; the latter can be read when all are ready */
	pid_t process;
	pthread_t thread;
	bool started;
};

struct messaging {
	VEC(struct worker) workers;
	int ready[2], wake[2];
	bool threaded;
};

static bool transfer(int fd, bool writes)
{
	char message[MESSAGE_BYTES] = { 0 };
	for (size_t done = 0; done < sizeof message;) {
		ssize_t n = writes ? write(fd, message + done, sizeof message - done) : read(fd, message + done, sizeof message - done);
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static void *work(void *context)
{
	const struct worker *w = context;
	struct pollfd start = { .fd = w->wake, .events = POLLIN };
	bool good = write(w->ready, "", 1) == 1;
	while (good && poll(&start, 1, -1) < 0 && errno == EINTR)
		continue;
	good = good && start.revents & POLLIN; /* without data the other end is closed: the others failed */
	for (unsigned loop = 0; good && loop < w->loops; loop++)
		for (unsigned i = 0; good && i < MEMBERS; i++)
			good = transfer(w->fds[w->sends ? i : 0], w->sends);
	return good ? NULL : context;
}

static int start_worker(struct messaging *m, struct worker *w, struct error *err)
{
	pthread_attr_t attr;
	if (!m->threaded) {
		w->process = fork();
		if (w->process == 0) {
			close(m->wake[1]);
			_exit(work(w) ? 1 : 0);
		}
		w->started = w->process > 0;
		return w->started ? 0 : error_system(err, "cannot start a process");
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	errno = pthread_create(&w->thread, &attr, work, w);
	pthread_attr_destroy(&attr);
	w->started = errno == 0;
	return w->started ? 0 : error_system(err, "cannot start a thread");
}

static int make_group(struct messaging *m, bool pipes, unsigned loops, struct error *err)
{
	struct worker sender = { .sends = true, .loops = loops, .ready = m->ready[1], .wake = m->wake[0] };
	for (int i = 0; i < MEMBERS; i++) {
		struct worker receiver = { .loops = loops, .ready = m->ready[1], .wake = m->wake[0] };
		int fds[2];
		if ((pipes ? pipe(fds) : socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) < 0)
			return error_system(err, "cannot connect a sender and a receiver");
		receiver.fds[0] = fds[0];
		sender.fds[i] = fds[1];
		vec_push(&m->workers, receiver);
	}
	for (int i = 0; i < MEMBERS; i++)
		vec_push(&m->workers, sender);
	return 0;
}

static int start_all(struct messaging *m, struct error *err)
{
	char byte;
	for (size_t i = 0; i < m->workers.count; i++)
		if (start_worker(m, &m->workers.items[i], err) < 0)
			return -1;
	for (size_t i = 0; i < m->workers.count; i++)
		if (read(m->ready[0], &byte, 1) != 1)
			return error_system(err, "a worker does not start");
	return 0;
}

/* Returns how many failed. */
static size_t wait_all(struct messaging *m)
{
	size_t failed = 0;
	for (size_t i = 0; i < m->workers.count; i++) {
		struct worker *w = &m->workers.items[i];
		void *result = NULL;
		int status = 0;
		if (!w->started)
			continue;
		if (m->threaded)
			pthread_join(w->thread, &result);
		else
			waitpid(w->process, &status, 0);
		failed += result || status;
	}
	return failed;
}

static int messaging_measure(struct messaging *m, const struct bench_options *options, uint64_t *ns, struct error *err)
{
	if (options->groups < 1 || options->groups > GROUPS_MAX)
		return error_set(err, ERROR_USAGE, "-g takes a number from 1 to %d", GROUPS_MAX);
	if (pipe(m->ready) < 0 || pipe(m->wake) < 0)
		return error_system(err, "cannot make a pipe");
	for (unsigned i = 0; i < options->groups; i++)
		if (make_group(m, options->pipes, options->loops, err) < 0)
			return -1;
	int status = start_all(m, err);
	uint64_t begin = now_ns();
	if (status == 0 && write(m->wake[1], "", 1) != 1)
		status = error_system(err, "cannot wake the workers");
	close(m->wake[1]); /* workers that still wait after a failure end */
	size_t failed = wait_all(m);
	*ns = now_ns() - begin;
	if (status == 0 && failed)
		status = error_set(err, ERROR_SYSTEM, "%zu of %zu workers failed", failed, m->workers.count);
	return status;
}

static int messaging_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	struct bench_options *options = filled;
	struct messaging m = { .threaded = options->threaded };
	struct error err;
	uint64_t ns = 0;
	options->loops = options->rounds && options->rounds <= UINT32_MAX ? (unsigned)options->rounds : 100;
	int status = messaging_measure(&m, options, &ns, &err);
	vec_fini(&m.workers);
	if (status < 0)
		return cli_complain(cli, &err); /* descriptors go with the process */
	if (!bench_is_simple(options))
		writer_printf(cli->out, "# %d sender and receiver %s per group\n# %u groups == %u %s run\n\n", MEMBERS,
			m.threaded ? "threads" : "processes", options->groups, options->groups * 2 * MEMBERS, m.threaded ? "threads" : "processes");
	bench_print_time(cli, options, ns);
	return 0;
}

/* One end of the two: the first begins. */
struct end {
	int in, out;
	bool first;
	uint64_t rounds;
};

static void *pass(void *context)
{
	const struct end *end = context;
	uint32_t word = 0;
	for (uint64_t i = 0; i < end->rounds; i++) {
		if (end->first && write(end->out, &word, sizeof word) != sizeof word)
			return context;
		if (read(end->in, &word, sizeof word) != sizeof word)
			return context;
		if (!end->first && write(end->out, &word, sizeof word) != sizeof word)
			return context;
	}
	return NULL;
}

static int pass_by_process(struct end ends[2], struct error *err)
{
	int status;
	pid_t child = fork();
	if (child < 0)
		return error_system(err, "cannot start a process");
	if (child == 0) {
		close(ends[0].out);
		_exit(pass(&ends[1]) ? 1 : 0);
	}
	close(ends[1].out);
	bool failed = pass(&ends[0]);
	close(ends[0].out);
	return waitpid(child, &status, 0) < 0 || status || failed ? error_set(err, ERROR_SYSTEM, "a process failed") : 0;
}

static int pass_by_thread(struct end ends[2], struct error *err)
{
	pthread_t thread;
	void *failed;
	errno = pthread_create(&thread, NULL, pass, &ends[1]);
	if (errno)
		return error_system(err, "cannot start a thread");
	bool first_failed = pass(&ends[0]);
	close(ends[0].out);
	pthread_join(thread, &failed);
	return failed || first_failed ? error_set(err, ERROR_SYSTEM, "a thread failed") : 0;
}

static int pipe_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	const struct bench_options *options = filled;
	struct error err;
	int there[2], back[2];
	uint64_t rounds = options->rounds ? options->rounds : ROUNDS;
	if (pipe(there) < 0 || pipe(back) < 0) {
		error_system(&err, "cannot make a pipe");
		return cli_complain(cli, &err);
	}
	struct end ends[2] = { { back[0], there[1], true, rounds }, { there[0], back[1], false, rounds } };
	uint64_t begin = now_ns();
	int status = options->threaded ? pass_by_thread(ends, &err) : pass_by_process(ends, &err);
	uint64_t ns = now_ns() - begin;
	if (status < 0)
		return cli_complain(cli, &err);
	if (!bench_is_simple(options))
		writer_printf(cli->out, "# Executed %llu pipe operations between two %s\n\n", (unsigned long long)rounds,
			options->threaded ? "threads" : "processes");
	bench_print_rate(cli, options, ns, rounds);
	return 0;
}

static const struct option messaging_table[] = {
	OPT_UINT('g', "group", struct bench_options, groups, "groups of 20 senders and 20 receivers (default: 10)"),
	OPT_U64('l', "nr_loops", struct bench_options, rounds, "messages of each sender to each receiver of its group (default: 100)"),
	OPT_BOOL('p', "pipe", struct bench_options, pipes, "pipes instead of socket pairs"),
	OPT_BOOL('t', "thread", struct bench_options, threaded, "threads instead of processes"),
	OPT_END(),
};
static const struct option pipe_table[] = {
	OPT_U64('l', "loop", struct bench_options, rounds, "how often the word goes there and back (default: 1000000)"),
	OPT_BOOL('T', "threaded", struct bench_options, threaded, "two threads instead of two processes"),
	OPT_END(),
};
static const struct option seccomp_table[] = {
	OPT_U64('l', "loop", struct bench_options, rounds, "how many system calls (default: 1000000)"),
	OPT_BOOL('s', "sync-mode", struct bench_options, synchronous, "the two processes take turns on one CPU"),
	OPT_END(),
};
static const char *const seccomp_usage[] = { "perf bench sched seccomp-notify [<options>]", NULL };
static const char *const messaging_usage[] = { "perf bench sched messaging [<options>]", NULL };
static const char *const pipe_usage[] = { "perf bench sched pipe [<options>]", NULL };
static const char *const sched_usage[] = { "perf bench sched {messaging|pipe|seccomp-notify|all} [<options>]", NULL };

static const struct command command_messaging = {
	.name = "messaging", .summary = "groups of senders and receivers", .usage = messaging_usage, .options = messaging_table,
	.options_size = sizeof(struct bench_options), .run = messaging_run,
};
static const struct command command_pipe = {
	.name = "pipe", .summary = "two tasks that pass a word through pipes", .usage = pipe_usage, .options = pipe_table,
	.options_size = sizeof(struct bench_options), .run = pipe_run,
};
static const struct command command_seccomp = {
	.name = "seccomp-notify", .summary = "system calls that another process answers", .usage = seccomp_usage, .options = seccomp_table,
	.options_size = sizeof(struct bench_options), .run = bench_seccomp_run,
};
static const struct command *const list[] = { &command_messaging, &command_pipe, &command_seccomp, NULL };
static const char *const words[] = { "messaging", "pipe", "seccomp-notify", "all", NULL };
static const struct option no_options[] = { OPT_END() };

static int collection_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return bench_collection_run(cli, "sched", list, options, argc, argv);
}

const struct command command_bench_sched = {
	.name = "sched", .summary = "the scheduler and communication of processes", .usage = sched_usage, .options = no_options,
	.options_size = sizeof(struct bench_options), .options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = collection_run, .subcommands = words,
};
