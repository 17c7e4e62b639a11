/* Workloads of several tasks with names of their own, each in its own function: threads, and two processes that run in turns. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload/programs.h"

enum { FAILED = 1, THREADS_MAX = 16, THREADS = 1, LOOPS = 1, SWITCHES = 100, ROUNDS = 100000 };

static long named_threads_loops;

#define EACH_THREAD(do) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15) do(16)

#define THREAD_FUNCTION(n) \
	static void *named_threads_thread##n(void *unused) \
	{ \
		prctl(PR_SET_NAME, "thread" #n); \
		for (long i = 0; i < named_threads_loops; i++) \
			for (volatile long round = 0; round < ROUNDS; round++) \
				continue; \
		return unused; \
	}
EACH_THREAD(THREAD_FUNCTION)

#define THREAD_NAME(n) named_threads_thread##n,
static void *(*const named_threads_functions[THREADS_MAX])(void *) = { EACH_THREAD(THREAD_NAME) };

int named_threads(int argc, const char **argv)
{
	pthread_t threads[THREADS_MAX];
	long wanted = argc > 0 ? strtol(argv[0], NULL, 10) : THREADS, started = 0;
	if (wanted < 1 || wanted > THREADS_MAX)
		return FAILED;
	named_threads_loops = argc > 1 ? strtol(argv[1], NULL, 10) : LOOPS;
	while (started < wanted && pthread_create(&threads[started], NULL, named_threads_functions[started], NULL) == 0)
		started++;
	for (long i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return started == wanted ? 0 : FAILED;
}

static bool pass(int to)
{
	return write(to, "", 1) == 1;
}

static bool wait_for(int from)
{
	char token;
	return read(from, &token, 1) == 1;
}

static void context_switch_loop_proc1(void)
{
	for (volatile long round = 0; round < ROUNDS; round++)
		continue;
}

static void context_switch_loop_proc2(void)
{
	for (volatile long round = 0; round < ROUNDS; round++)
		continue;
}

/* Both ends of two pipes: this process has the first turn. */
static bool take_turns(int from, int to, long turns)
{
	for (long i = 0; i < turns; i++) {
		context_switch_loop_proc1();
		if (!pass(to) || !wait_for(from))
			return false;
	}
	return true;
}

static bool answer_turns(int from, int to, long turns)
{
	for (long i = 0; i < turns; i++) {
		if (!wait_for(from))
			return false;
		context_switch_loop_proc2();
		if (!pass(to))
			return false;
	}
	return true;
}

int context_switch_loop(int argc, const char **argv)
{
	int there[2], back[2], status = 0;
	long turns = argc > 0 ? strtol(argv[0], NULL, 10) : SWITCHES;
	if (pipe(there) < 0 || pipe(back) < 0)
		return FAILED;
	pid_t child = fork();
	if (child < 0)
		return FAILED;
	if (!child) {
		prctl(PR_SET_NAME, "proc2");
		close(there[1]);
		close(back[0]);
		_exit(answer_turns(there[0], back[1], turns) ? 0 : FAILED);
	}
	prctl(PR_SET_NAME, "proc1");
	close(there[0]);
	close(back[1]);
	bool done = take_turns(back[0], there[1], turns);
	close(there[1]);
	close(back[0]);
	waitpid(child, &status, 0);
	return done && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : FAILED;
}
