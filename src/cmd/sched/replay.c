/* `sched replay`: threads that run, sleep and wake each other as the tasks of a recording did. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "analysis/sched/replay.h"
#include "base/budget.h"
#include "base/clock.h"
#include "cmd/sched/sched.h"
#include "os/machine.h"

enum { CALIBRATIONS = 10, SLEEP_NS = 10000, MILLISECOND_NS = 1000000, STACK_BYTES = 64 << 10 };

struct replay_run {
	struct sched_view view;
	struct replay replay;
	sem_t *signals;
	sem_t done;                    /* sent by each thread at the end of a repetition */
	uint64_t overhead_ns;          /* of a run of no time */
	bool over;                     /* read by the threads after `go` */
};

struct replay_thread {
	struct replay_run *run;
	const struct replay_task *task;
	pthread_t thread;
	sem_t go;                      /* starts a repetition */
	uint64_t used_ns;              /* CPU time of the last repetition; valid after `done` */
};

static void burn(const struct replay_run *run, uint64_t ns)
{
	uint64_t start = now_ns();
	while (now_ns() + run->overhead_ns < start + ns)
		;
}

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) }, NULL);
}

static uint64_t timed(const struct replay_run *run, bool sleeps, uint64_t ns)
{
	uint64_t start = now_ns();
	if (sleeps)
		sleep_ns(ns);
	else
		burn(run, ns);
	return now_ns() - start;
}

static uint64_t least(const struct replay_run *run, bool sleeps, uint64_t ns)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < CALIBRATIONS; i++) {
		uint64_t took = timed(run, sleeps, ns);
		best = took < best ? took : best;
	}
	return best;
}

static void calibrate(struct replay_run *run)
{
	struct writer *out = run->view.cli->out;
	run->overhead_ns = least(run, false, 0);
	writer_printf(out, "run measurement overhead: %llu nsecs\n", (unsigned long long)run->overhead_ns);
	writer_printf(out, "sleep measurement overhead: %llu nsecs\n", (unsigned long long)(least(run, true, SLEEP_NS) - SLEEP_NS));
	writer_printf(out, "the run test took %llu nsecs\n", (unsigned long long)timed(run, false, MILLISECOND_NS));
	writer_printf(out, "the sleep test took %llu nsecs\n", (unsigned long long)timed(run, true, MILLISECOND_NS));
}

static void await(sem_t *signal)
{
	while (sem_wait(signal) < 0 && errno == EINTR)
		;
}

static void take_steps(struct replay_run *run, const struct replay_task *task)
{
	for (size_t i = 0; i < task->steps.count; i++) {
		const struct replay_step *step = &task->steps.items[i];
		if (step->kind == REPLAY_RUN)
			burn(run, step->run_ns);
		else if (step->signal != REPLAY_NO_SIGNAL && step->kind == REPLAY_WAKE)
			sem_post(&run->signals[step->signal]);
		else if (step->signal != REPLAY_NO_SIGNAL)
			await(&run->signals[step->signal]);
	}
}

static void *live(void *context)
{
	struct replay_thread *thread = context;
	struct replay_run *run = thread->run;
	char name[22];
	snprintf(name, sizeof name, ":%s", thread->task->name);
	prctl(PR_SET_NAME, name);
	for (;;) {
		await(&thread->go);
		if (run->over)
			return NULL;
		uint64_t start = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		take_steps(run, thread->task);
		thread->used_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		sem_post(&run->done);
	}
}

/* A running average over `repeat` values, as perf weighs it. */
static void average(uint64_t *average_ns, uint64_t value, unsigned repeat)
{
	*average_ns = *average_ns ? *average_ns : value;
	*average_ns = (uint64_t)(((double)*average_ns * (repeat - 1) + (double)value) / repeat);
}

static void repeat_all(struct replay_run *run, struct replay_thread *threads)
{
	struct writer *out = run->view.cli->out;
	unsigned repeat = run->view.options->repeat ? run->view.options->repeat : UINT_MAX;
	uint64_t run_average = 0, cpu_average = 0;
	for (unsigned i = 1; i <= repeat && i; i++) {
		uint64_t start = now_ns(), used = 0;
		for (size_t n = 0; n < run->replay.tasks.count; n++)
			sem_post(&threads[n].go);
		for (size_t n = 0; n < run->replay.tasks.count; n++)
			await(&run->done);
		uint64_t took = now_ns() - start;
		for (size_t n = 0; n < run->replay.tasks.count; n++)
			used += threads[n].used_ns;
		average(&run_average, took, repeat);
		average(&cpu_average, used, repeat);
		writer_printf(out, "#%-3u: %0.3f, ravg: %0.2f, cpu: %0.2f / %0.2f\n", i, (double)took / 1e6, (double)run_average / 1e6,
			(double)used / 1e6, (double)cpu_average / 1e6);
		writer_flush(out, NULL);
	}
}

/* A recording may name very many threads, whose memory is the kernel's for the most part. */
static int check_memory(const struct replay_run *run, struct error *err)
{
	enum { THREAD_BYTES = 48 << 10 };
	size_t count = run->replay.tasks.count, limit = budget_limit(run->view.cli->budget);
	if (count <= limit / THREAD_BYTES)
		return 0;
	return error_set(err, ERROR_LIMIT, "the %zu threads need about %zu MiB, more than the limit of memory, %zu MiB. 'perfuse --memory SIZE "
		"sched replay' sets another limit.", count, count * THREAD_BYTES >> 20, limit >> 20);
}

static int run_threads(struct replay_run *run, struct error *err)
{
	if (check_memory(run, err) < 0)
		return -1;
	size_t count = run->replay.tasks.count, created = 0;
	CLEANUP_FREE struct replay_thread *threads = memory_zero(count + 1, sizeof *threads);
	pthread_attr_t attr;
	int failed = 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	run->signals = memory_zero(run->replay.signals + 1, sizeof *run->signals);
	for (uint32_t i = 0; i < run->replay.signals; i++)
		sem_init(&run->signals[i], 0, 0);
	sem_init(&run->done, 0, 0);
	while (created < count && !failed) {
		struct replay_thread *thread = &threads[created];
		*thread = (struct replay_thread){ .run = run, .task = &run->replay.tasks.items[created] };
		sem_init(&thread->go, 0, 0);
		failed = pthread_create(&thread->thread, &attr, live, thread);
		created += !failed;
	}
	pthread_attr_destroy(&attr);
	if (failed)
		error_set(err, ERROR_LIMIT, "thread %zu of %zu cannot be created: %s", created + 1, count, strerror(failed));
	else
		repeat_all(run, threads);
	run->over = true;
	for (size_t i = 0; i < created; i++)
		sem_post(&threads[i].go);
	for (size_t i = 0; i < created; i++)
		pthread_join(threads[i].thread, NULL);
	free(run->signals);
	return failed ? -1 : 0;
}

static void print_counts(const struct replay *replay, struct writer *out)
{
	writer_printf(out, "nr_run_events:        %llu\nnr_sleep_events:      %llu\nnr_wakeup_events:     %llu\n",
		(unsigned long long)replay->runs, (unsigned long long)replay->sleeps, (unsigned long long)replay->wakes);
	if (replay->targetless)
		writer_printf(out, "target-less wakeups:  %llu\n", (unsigned long long)replay->targetless);
	if (replay->repeated)
		writer_printf(out, "multi-target wakeups: %llu\n", (unsigned long long)replay->repeated);
	if (replay->joined)
		writer_printf(out, "run atoms optimized: %llu\n", (unsigned long long)replay->joined);
	for (size_t i = 0; i < replay->tasks.count; i++) {
		const struct replay_task *task = &replay->tasks.items[i];
		CLEANUP_STR struct str line = { 0 };
		str_printf(&line, "task %6zu (%20s:%10d), nr_events: %zu", i, task->name, task->tid, task->steps.count);
		writer_name(out, line.text, line.len);
		writer_putc(out, '\n');
	}
}

/* The threads run when the recording is closed. */
static void finish(void *context)
{
	struct replay_run *run = context;
	print_counts(&run->replay, run->view.cli->out);
	replay_finish(&run->replay);
}

static int replay_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct sched_options *options = filled;
	struct error err = { 0 };
	struct replay_run run = { .view = { .cli = cli, .options = options } };
	if (argc)
		return cli_usage(cli, &sched_replay, NULL);
	replay_init(&run.replay);
	run.view.reader = &run.replay.reader;
	run.view.context = &run;
	calibrate(&run);
	int code = sched_read_file(&run.view, finish);
	if (!code && run.replay.tasks.count) {
		writer_puts(cli->out, "------------------------------------------------------------\n");
		code = run_threads(&run, &err) < 0 ? cli_complain(cli, &err), EXIT_FAILED : 0;
	}
	replay_fini(&run.replay);
	return code;
}

static const struct option replay_table[] = {
	OPT_UINT('r', "repeat", struct sched_options, repeat, "repeat the recorded work this often (10; 0: without end)"),
	SCHED_OPTIONS,
	OPT_END(),
};

static const char *const replay_usage[] = { "perf sched replay [<options>]", NULL };

const struct command sched_replay = {
	.name = "replay",
	.usage = replay_usage,
	.options = replay_table,
	.options_size = sizeof(struct sched_options),
	.run = replay_run,
};
