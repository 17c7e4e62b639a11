#include "workload/workload.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run(const char *name, const char *argument)
{
	const char *words[] = { argument, NULL };
	return workload_find(name)->run(argument ? 1 : 0, words);
}

TEST("workloads are found by their whole name")
{
	EXPECT(workload_find("noploop") == workloads_at(0));
	EXPECT_STR(workload_find("traploop")->name, "traploop");
	EXPECT(workload_find("traploop") == workloads_at(workloads_count() - 1));
	EXPECT(!workload_find("noplo"));
	EXPECT(!workload_find("noploop2"));
	EXPECT(!workload_find(""));
}

TEST("loops end after the seconds of their first argument, which may be a fraction")
{
	const char *const loops[] = { "noploop", "thloop", "leafloop", "sqrtloop", "inlineloop" };
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
		double began = now_s();
		EXPECT_INT(run(loops[i], "0.05"), 0);
		EXPECT(now_s() - began >= 0.045);
		EXPECT(now_s() - began < 0.9); /* the default is 1 s */
	}
	EXPECT_INT(run("noploop", "1e-9"), 0); /* below the timer's resolution, and yet it ends */
}

TEST("a workload of a number of rounds or calls ends at once, a negative number of rounds too")
{
	EXPECT_INT(run("brstack", "10"), 0);
	EXPECT_INT(run("brstack", "-10"), 0);
	EXPECT_INT(run("traploop", "10"), 0);
	EXPECT_INT(run("landlock", NULL), 0);
}

TEST("threads of a workload are as many as its first argument says, and more than there are functions are refused")
{
	EXPECT_INT(run("named_threads", "1"), 0);
	EXPECT_INT(run("named_threads", "16"), 0);
	EXPECT_INT(run("named_threads", "17"), 1);
	EXPECT_INT(run("named_threads", "0"), 1);
}

TEST("two processes of a workload run in turns, and both end")
{
	EXPECT_INT(run("context_switch_loop", "0"), 0);
	EXPECT_INT(run("context_switch_loop", "50"), 0);
	EXPECT_INT(waitpid(-1, NULL, WNOHANG), -1);
}

/* Starts it in a child, sends the signal after a while; returns the status, or -1 if the child had ended before. */
static int interrupted_after(unsigned ms, const char *name, const char *argument, int number)
{
	int status;
	pid_t child = fork();
	if (!child) {
		signal(number, SIG_DFL);
		_exit(run(name, argument));
	}
	usleep(ms * 1000);
	if (child < 0 || waitpid(child, &status, WNOHANG) != 0)
		return -1;
	kill(child, number);
	return waitpid(child, &status, 0) == child ? status : -1;
}

/* Ends with this status; on a busy machine the child may need a while until it expects the signal. */
static bool ends(const char *name, const char *argument, int number, int status)
{
	for (unsigned ms = 100; ms < 20000; ms *= 3) {
		if (interrupted_after(ms, name, argument, number) == status)
			return true;
	}
	return false;
}

TEST("without a positive number of seconds a loop ends by SIGINT, with exit code 0; datasym never ends")
{
	EXPECT(ends("noploop", "0", SIGINT, 0));
	EXPECT(ends("leafloop", "-1", SIGINT, 0));
	EXPECT(ends("thloop", "word", SIGINT, 0));
	EXPECT(ends("datasym", NULL, SIGTERM, SIGTERM));
}
