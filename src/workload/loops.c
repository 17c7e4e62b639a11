/* Workloads that use a processor for a time: in one function, in two threads, below two callers, in a library. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload/programs.h"
#include "workload/until.h"

enum { FAILED = 1 };

int noploop(int argc, const char **argv)
{
	until_start(argc, argv);
	while (!until_over)
		continue;
	return 0;
}

void test_loop(void)
{
	while (!until_over)
		continue;
}

static void *thfunc(void *unused)
{
	test_loop();
	return unused;
}

int thloop(int argc, const char **argv)
{
	pthread_t thread;
	until_start(argc, argv);
	if (pthread_create(&thread, NULL, thfunc, NULL) != 0)
		return FAILED;
	test_loop();
	pthread_join(thread, NULL);
	return 0;
}

void leaf(void)
{
	while (!until_over)
		continue;
}

void parent(void)
{
	leaf();
}

int leafloop(int argc, const char **argv)
{
	until_start(argc, argv);
	parent();
	return 0;
}

static int __sqrtloop(int argc, const char **argv)
{
	until_start(argc, argv);
	while (!until_over) {
		volatile double root = sqrt(rand());
		(void)root;
	}
	return 0;
}

int sqrtloop(int argc, const char **argv)
{
	pid_t child = fork();
	if (child < 0)
		return FAILED;
	if (!child)
		_exit(__sqrtloop(argc, argv));
	/* The child gets a terminal's SIGINT, too, and then ends. */
	signal(SIGINT, SIG_IGN);
	waitpid(child, NULL, 0);
	return 0;
}
