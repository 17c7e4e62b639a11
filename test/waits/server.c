/* server REQUESTS: four threads answer requests; each looks a value up under one lock, in which one request of ten reloads a table from a
 * slow device (5 ms). Prints the median and the longest time of a request in us. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

enum { THREADS = 4, RELOAD_EVERY = 10, RELOAD_MS = 5, REQUESTS_MAX = 100000 };

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static int requests, answered;
static long times_us[REQUESTS_MAX];

static long now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

APART static int reload_table(int key)
{
	nanosleep(&(struct timespec){ .tv_nsec = RELOAD_MS * 1000000 }, NULL);
	return key + 1;
}

APART static int look_up(int key)
{
	pthread_mutex_lock(&table_lock);
	int value = key % RELOAD_EVERY ? key : reload_table(key);
	pthread_mutex_unlock(&table_lock);
	return value;
}

APART static int handle_request(int key)
{
	return look_up(key) ^ 1;
}

static void *serve(void *sum)
{
	int key;
	while ((key = __atomic_fetch_add(&answered, 1, __ATOMIC_RELAXED)) < requests) {
		long before = now_us();
		*(int *)sum += handle_request(key);
		times_us[key] = now_us() - before;
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return *(const long *)a < *(const long *)b ? -1 : *(const long *)a > *(const long *)b;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int sums[THREADS] = { 0 };
	requests = argc > 1 ? atoi(argv[1]) : 1000;
	if (requests < 1 || requests > REQUESTS_MAX)
		return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, &sums[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	qsort(times_us, (size_t)requests, sizeof *times_us, compare);
	printf("median %ld us, longest %ld us\n", times_us[requests / 2], times_us[requests - 1]);
	return 0;
}
