/* A program of known shape, to record and to judge recordings by: named threads, named functions with known shares of their
 * thread's CPU time, a deep recursion, a sleeper. --truth prints what a recording should show.
 *
 *   shape [--ms N] [--depth N] [--truth]
 *
 * Shares hold on a busy machine too: every function runs until its part of the thread's own CPU time is used up. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLICE_NS = 10 * 1000 * 1000, DEPTH_DEFAULT = 64, MS_DEFAULT = 1000 };

#define NOINLINE __attribute__((noinline, noclone))

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Burns CPU in the function that holds it until the thread has used `until`; the clock is asked only every 20 us or so. */
#define BURN(until)                                                                                                    \
	do {                                                                                                           \
		volatile uint64_t burn_ = 1;                                                                           \
		do {                                                                                                   \
			for (int burn_i_ = 0; burn_i_ < 20000; burn_i_++)                                              \
				burn_ = burn_ * 6364136223846793005u + 1442695040888963407u;                           \
		} while (thread_cpu_ns() < (until));                                                                   \
	} while (0)

NOINLINE static void shape_seventy(uint64_t until) { BURN(until); }
NOINLINE static void shape_twenty(uint64_t until) { BURN(until); }
NOINLINE static void shape_ten(uint64_t until) { BURN(until); }
NOINLINE static void shape_even_a(uint64_t until) { BURN(until); }
NOINLINE static void shape_even_b(uint64_t until) { BURN(until); }
NOINLINE static void shape_bottom(uint64_t until) { BURN(until); }

/* One frame per level; the work after the call keeps it from becoming a jump. */
NOINLINE static unsigned shape_descend(unsigned depth, uint64_t until)
{
	if (depth == 0) {
		shape_bottom(until);
		return 0;
	}
	unsigned below = shape_descend(depth - 1, until);
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

struct share {
	const char *thread;      /* the name of the thread */
	const char *function;    /* where its time goes */
	unsigned percent;        /* of the thread's CPU time */
	void (*burn)(uint64_t until);
};

static const struct share shares[] = {
	{ "shape-skewed", "shape_seventy", 70, shape_seventy },
	{ "shape-skewed", "shape_twenty", 20, shape_twenty },
	{ "shape-skewed", "shape_ten", 10, shape_ten },
	{ "shape-even", "shape_even_a", 50, shape_even_a },
	{ "shape-even", "shape_even_b", 50, shape_even_b },
};
enum { SHARES = sizeof shares / sizeof shares[0] };

struct job {
	const char *name;
	uint64_t total_ns;
	unsigned depth;
};

NOINLINE static void *run_shares(void *argument)
{
	const struct job *job = argument;
	pthread_setname_np(pthread_self(), job->name);
	uint64_t start = thread_cpu_ns(), used = start;
	while (used - start < job->total_ns) {
		for (int i = 0; i < SHARES; i++) {
			if (strcmp(shares[i].thread, job->name) != 0)
				continue;
			used += SLICE_NS / 100 * shares[i].percent;
			shares[i].burn(used);
		}
	}
	return NULL;
}

NOINLINE static void *run_deep(void *argument)
{
	const struct job *job = argument;
	pthread_setname_np(pthread_self(), job->name);
	shape_descend(job->depth, thread_cpu_ns() + job->total_ns);
	return NULL;
}

NOINLINE static void *run_asleep(void *argument)
{
	const struct job *job = argument;
	pthread_setname_np(pthread_self(), job->name);
	struct timespec rest = { (time_t)(job->total_ns / 1000000000u), (long)(job->total_ns % 1000000000u) };
	nanosleep(&rest, NULL);
	return NULL;
}

static void print_truth(unsigned ms, unsigned depth)
{
	printf("# thread\tfunction\tpercent of thread\tms of CPU\tframes\n");
	for (int i = 0; i < SHARES; i++)
		printf("%s\t%s\t%u\t%u\t0\n", shares[i].thread, shares[i].function, shares[i].percent, ms * shares[i].percent / 100);
	printf("shape-deep\tshape_bottom\t100\t%u\t%u\n", ms, depth);
	printf("shape-asleep\t-\t0\t0\t0\n");
}

static unsigned number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);
	if (*end || end == text || value == 0 || value > 1000000) {
		fprintf(stderr, "shape: '%s' is not a number from 1 to 1000000\n", text);
		exit(2);
	}
	return (unsigned)value;
}

int main(int argc, char **argv)
{
	unsigned ms = MS_DEFAULT, depth = DEPTH_DEFAULT;
	int truth = 0;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--truth") == 0) {
			truth = 1;
		} else if (strcmp(argv[i], "--ms") == 0 && i + 1 < argc) {
			ms = number(argv[++i]);
		} else if (strcmp(argv[i], "--depth") == 0 && i + 1 < argc) {
			depth = number(argv[++i]);
		} else {
			fprintf(stderr, "usage: shape [--ms N] [--depth N] [--truth]\n");
			return 2;
		}
	}
	if (truth) {
		print_truth(ms, depth);
		return 0;
	}
	uint64_t total = (uint64_t)ms * 1000000u;
	struct job jobs[] = {
		{ "shape-skewed", total, 0 }, { "shape-even", total, 0 }, { "shape-deep", total, depth }, { "shape-asleep", total, 0 },
	};
	void *(*const bodies[])(void *) = { run_shares, run_shares, run_deep, run_asleep };
	enum { THREADS = sizeof jobs / sizeof jobs[0] };
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++) {
		int failed = pthread_create(&threads[i], NULL, bodies[i], &jobs[i]);
		if (failed) {
			fprintf(stderr, "shape: cannot start a thread: %s\n", strerror(failed));
			return 1;
		}
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
