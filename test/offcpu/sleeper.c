/* Waits in known functions and prints "FUNCTION NS": how long each of them waited, as measured here. Threads end before the process. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

enum { ROUNDS = 10 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2];
static volatile int depth;

static long long now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

APART static void nap(int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };
	nanosleep(&time, NULL);
	depth++;
}

APART static long long long_naps(void)
{
	long long before = now_ns();
	for (int i = 0; i < ROUNDS; i++)
		nap(40);
	return now_ns() - before;
}

APART static long long short_naps(void)
{
	long long before = now_ns();
	for (int i = 0; i < ROUNDS; i++)
		nap(15);
	return now_ns() - before;
}

APART static long long wait_for_lock(void)
{
	long long before = now_ns();
	pthread_mutex_lock(&table_lock);
	pthread_mutex_unlock(&table_lock);
	return now_ns() - before;
}

APART static long long wait_for_byte(void)
{
	char byte;
	long long before = now_ns();
	if (read(pipes[0], &byte, 1) != 1)
		return 0;
	depth++;
	return now_ns() - before;
}

static void *locked(void *result)
{
	prctl(PR_SET_NAME, "locked");
	*(long long *)result = wait_for_lock();
	return NULL;
}

static void *reader(void *result)
{
	prctl(PR_SET_NAME, "reader");
	*(long long *)result = wait_for_byte();
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	long long lock_ns = 0, byte_ns = 0;
	if (pipe(pipes) < 0)
		return 1;
	pthread_mutex_lock(&table_lock);
	pthread_create(&threads[0], NULL, locked, &lock_ns);
	pthread_create(&threads[1], NULL, reader, &byte_ns);
	long long long_ns = long_naps();
	pthread_mutex_unlock(&table_lock);
	if (write(pipes[1], "x", 1) != 1)
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	long long short_ns = short_naps();
	printf("long_naps %lld\nshort_naps %lld\nwait_for_lock %lld\nwait_for_byte %lld\n", long_ns, short_ns, lock_ns, byte_ns);
	return 0;
}
