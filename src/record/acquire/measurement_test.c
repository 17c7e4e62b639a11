#include "record/acquire/measurement.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/counter.h"
#include "unit.h"

/* A command that computes until the file of its name exists. */
static char stop[64];
static const char *const busy[] = { "sh", "-c", "until [ -e \"$0\" ]; do :; done", stop, NULL };

static void let_run(void)
{
	snprintf(stop, sizeof stop, "/tmp/perfuse-measurement-test-%d", getpid());
	unlink(stop);
}

static void let_end(void)
{
	int fd = open(stop, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	EXPECT(fd >= 0);
	close(fd);
}

/* A measurement of cpu-clock, open or, where no event can be opened, skipped. */
struct opened {
	struct events events;
	struct measurement measurement;
	bool open;
};

static struct measurement *open_one(struct opened *opened, struct measurement_options options)
{
	struct error err = { 0 };
	*opened = (struct opened){ 0 };
	EXPECT(events_parse(&opened->events, "cpu-clock:u", NULL) == 0);
	options.events = &opened->events;
	opened->open = measurement_open(&opened->measurement, &options, &err) == 0;
	if (!opened->open)
		unit_skip(err.text);
	return opened->open ? &opened->measurement : NULL;
}

static void close_one(struct opened *opened)
{
	measurement_close(&opened->measurement);
	events_fini(&opened->events);
}

/* The sum of the counts, which are read as a stat would. */
static uint64_t sum_of_counts(const struct measurement *m)
{
	uint64_t sum = 0, values[16];
	for (size_t i = 0; i < m->counters.list.count; i++)
		if (m->counters.list.items[i].fd >= 0 && counter_read(m->counters.list.items[i].fd, values, sizeof values) >= 8)
			sum += values[0];
	return sum;
}

/* Waits until the sum of the counts is more than `least`, at most 10 s; returns the sum. */
static uint64_t wait_for_counts(struct measurement *m, uint64_t least)
{
	time_t start = time(NULL);
	uint32_t ready;
	while (sum_of_counts(m) <= least && time(NULL) - start < 60)
		EXPECT_INT(measurement_wait(m, 1, &ready, NULL), 0);
	return sum_of_counts(m);
}

/* Waits until it is over, at most 10 s. */
static void wait_until_over(struct measurement *m)
{
	time_t start = time(NULL);
	uint32_t ready;
	while (!measurement_over(m) && time(NULL) - start < 60)
		measurement_wait(m, 10, &ready, NULL);
	EXPECT(measurement_over(m));
}

/* A process that sleeps until it is killed. */
static pid_t start_sleeper(char pid_text[static 16])
{
	pid_t pid = fork();
	while (pid == 0)
		pause();
	snprintf(pid_text, 16, "%d", pid);
	return pid;
}

static void end_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST("without rings, counts can be read at intervals and after the command has ended")
{
	struct opened opened;
	let_run();
	struct measurement *m = open_one(&opened, (struct measurement_options){ .sampling.no_samples = true, .target.command = true,
		.command = busy });
	if (m) {
		EXPECT_INT(sum_of_counts(m), 0);
		EXPECT(measurement_start(m, NULL) == 0);
		uint64_t first = wait_for_counts(m, 0), second = wait_for_counts(m, first);
		EXPECT(first > 0 && second > first && !measurement_over(m));
		let_end();
		wait_until_over(m);
		EXPECT(sum_of_counts(m) >= second);
		EXPECT(m->workload.reaped && WIFEXITED(m->workload.status) && WEXITSTATUS(m->workload.status) == 0);
		EXPECT_INT(m->counters.rings.count, 0);
	}
	close_one(&opened);
	unlink(stop);
}

TEST("without rings, the end of attached threads is noticed")
{
	char pid_text[16];
	pid_t pid = start_sleeper(pid_text);
	struct opened opened;
	struct measurement *m = open_one(&opened, (struct measurement_options){ .sampling.no_samples = true, .target.pids = pid_text });
	if (m) {
		uint32_t ready;
		EXPECT(measurement_start(m, NULL) == 0);
		EXPECT_INT(measurement_wait(m, 10, &ready, NULL), 0);
		EXPECT(!measurement_over(m));
	}
	end_sleeper(pid);
	if (m)
		wait_until_over(m);
	close_one(&opened);
}

TEST("the end of the tasks of all watched rings ends a measurement")
{
	char pid_text[16];
	pid_t pid = start_sleeper(pid_text);
	struct opened opened;
	struct measurement *m = open_one(&opened, (struct measurement_options){ .sampling.freq = 100, .target.pids = pid_text });
	bool mapped = m && measurement_map(m, 1, true, NULL) == 0;
	if (mapped) {
		EXPECT(m->rings_watched > 0 && m->rings_open == m->rings_watched);
		EXPECT(measurement_start(m, NULL) == 0);
		EXPECT(!measurement_over(m));
	}
	end_sleeper(pid);
	if (mapped)
		wait_until_over(m);
	if (mapped)
		EXPECT(!m->ended && m->rings_open == 0);
	close_one(&opened);
}

TEST("a descriptor of the caller's sets its bit while it can be read and is watched")
{
	int ends[2];
	EXPECT(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
	struct opened opened;
	struct measurement *m = open_one(&opened, (struct measurement_options){ .target.command = true, .command = busy });
	if (m) {
		uint32_t ready;
		EXPECT_INT(measurement_wait(m, 0, &ready, NULL), 0);
		EXPECT_INT(ready, 0);
		EXPECT(measurement_watch(m, ends[0], 31, NULL) == 0);
		EXPECT_INT(measurement_wait(m, 0, &ready, NULL), 1);
		EXPECT_INT(ready, 1u << 31);
		measurement_unwatch(m, ends[0]);
		EXPECT_INT(measurement_wait(m, 0, &ready, NULL), 0);
	}
	close_one(&opened);
	close(ends[0]);
	close(ends[1]);
}

TEST("with a delay, the events start when the caller enables them")
{
	struct opened opened;
	let_run();
	struct measurement *m = open_one(&opened, (struct measurement_options){ .sampling = { .no_samples = true, .delay_ms = -1 },
		.target.command = true, .command = busy });
	if (m) {
		uint32_t ready;
		EXPECT(measurement_start(m, NULL) == 0);
		EXPECT_INT(measurement_wait(m, 20, &ready, NULL), 0);
		EXPECT_INT(sum_of_counts(m), 0);
		counters_switch(&m->counters, m->events, UINT32_MAX, true);
		EXPECT(wait_for_counts(m, 0) > 0);
		let_end();
	}
	close_one(&opened);
	unlink(stop);
}

static bool same_signals(const sigset_t *a, const sigset_t *b)
{
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigismember(a, number) != sigismember(b, number))
			return false;
	return true;
}

TEST("a signal ends a measurement, and the close restores the mask of signals")
{
	sigset_t before, during, after;
	sigprocmask(SIG_SETMASK, NULL, &before);
	struct opened opened;
	struct measurement *m = open_one(&opened, (struct measurement_options){ .target.command = true, .command = busy });
	sigprocmask(SIG_SETMASK, NULL, &during);
	EXPECT(sigismember(&during, SIGTERM) && !sigismember(&before, SIGTERM));
	if (m) {
		uint32_t ready;
		kill(getpid(), SIGTERM);
		EXPECT_INT(measurement_wait(m, 1000, &ready, NULL), 1);
		EXPECT(measurement_over(m) && m->signals.ended_by == SIGTERM);
	}
	close_one(&opened);
	sigprocmask(SIG_SETMASK, NULL, &after);
	EXPECT(same_signals(&before, &after));
}

TEST("SIGUSR2 is for the caller who asks for it and does not end the measurement")
{
	struct opened opened;
	struct measurement *m = open_one(&opened, (struct measurement_options){ .target.command = true, .command = busy, .user_signal = true });
	if (m) {
		uint32_t ready;
		kill(getpid(), SIGUSR2);
		EXPECT_INT(measurement_wait(m, 1000, &ready, NULL), 1);
		EXPECT(m->signals.user && !measurement_over(m));
	}
	close_one(&opened);
}

TEST("a SIGUSR2 that comes before the measurement and is held back arrives in it, and the command does not hold it back")
{
	const char *const mask[] = { "sh", "-c", "while read name value; do [ $name = SigBlk: ] && [ $((0x$value & 0x800)) = 0 ] && exit 7; done "
		"</proc/self/status", NULL };
	struct opened opened;
	sigset_t user, before;
	sigemptyset(&user);
	sigaddset(&user, SIGUSR2);
	sigprocmask(SIG_BLOCK, &user, &before);
	kill(getpid(), SIGUSR2);
	struct measurement *m = open_one(&opened, (struct measurement_options){ .target.command = true, .command = mask, .user_signal = true });
	if (m) {
		uint32_t ready;
		measurement_wait(m, 1000, &ready, NULL);
		EXPECT(m->signals.user);
		EXPECT_INT(measurement_start(m, NULL), 0);
		workload_wait(&m->workload, &m->signals);
		EXPECT(WIFEXITED(m->workload.status) && WEXITSTATUS(m->workload.status) == 7);
	} else {
		int number;
		sigwait(&user, &number);
	}
	close_one(&opened);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

TEST("a command does not run if its measurement is closed before the start")
{
	char path[] = "/tmp/perfuse-measurement-test-XXXXXX";
	int fd = mkstemp(path);
	const char *const remove_it[] = { "rm", path, NULL };
	struct opened opened;
	open_one(&opened, (struct measurement_options){ .target.command = true, .command = remove_it });
	close_one(&opened);
	EXPECT(access(path, F_OK) == 0);
	close(fd);
	unlink(path);
}

TEST("a measurement of a target that does not exist fails with a sentence and can be closed")
{
	struct events events = { 0 };
	struct measurement measurement;
	struct error err = { 0 };
	const struct measurement_options options = { .target.pids = "1073741823", .events = &events };
	EXPECT(measurement_open(&measurement, &options, &err) < 0);
	EXPECT(err.text[0] && !measurement.refused);
	measurement_close(&measurement);
	events_fini(&events);
}
