/* A program in two builds, of which the tests put one in the place of the other. ./two SECONDS: works for so long, and for half of it on a
 * CPU however many others work, in the function FIRST, whose code is another one in the other build. */
#include <stdlib.h>
#include <time.h>

volatile unsigned long sink;

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) void WORK(void)
{
	for (unsigned long i = 0; i < 2000000; i++)
		sink += i * FACTOR;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.3, end = now(CLOCK_MONOTONIC) + seconds;
	while (now(CLOCK_MONOTONIC) < end || now(CLOCK_PROCESS_CPUTIME_ID) < seconds / 2)
		WORK();
	return 0;
}
