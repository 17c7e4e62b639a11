/* Threads with known turns: each is pinned to a CPU, and alternates between running and sleeping.
 *
 *   turns THREADS TURNS RUN_US SLEEP_US      prints TID<tab>RUN_NS<tab>SLEPT_NS of each thread, as the kernel counts them */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long turns, run_us, sleep_us;

static uint64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *work(void *argument)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((long)argument % sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof set, &set);
	uint64_t slept = 0, run = now(CLOCK_THREAD_CPUTIME_ID);
	for (long i = 0; i < turns; i++) {
		uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)run_us * 1000;
		while (now(CLOCK_THREAD_CPUTIME_ID) < end)
			;
		uint64_t start = now(CLOCK_MONOTONIC);
		usleep((useconds_t)sleep_us);
		slept += now(CLOCK_MONOTONIC) - start;
	}
	run = now(CLOCK_THREAD_CPUTIME_ID) - run;
	printf("%d\t%llu\t%llu\n", gettid(), (unsigned long long)run, (unsigned long long)slept);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	if (argc != 5)
		return 2;
	long count = atol(argv[1]) % 64;
	turns = atol(argv[2]);
	run_us = atol(argv[3]);
	sleep_us = atol(argv[4]);
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
