#include "record/acquire/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

/* The name of a process. */
static const char *comm_of(pid_t pid)
{
	static char name[32];
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/comm", pid);
	FILE *file = fopen(path, "r");
	*name = '\0';
	if (file && fgets(name, sizeof name, file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	return name;
}

static int start(struct workload *workload, struct signals *signals, const char *const *argv, bool to_stderr)
{
	struct error err = { 0 };
	EXPECT_INT(signals_open(signals, false, &err), 0);
	int status = workload_start(workload, argv, to_stderr, signals, &err);
	EXPECT_STR(err.text, "");
	return status;
}

TEST("a command waits before its exec, then runs, and its status is that of wait")
{
	static const char *const argv[] = { "sh", "-c", "exit 3", NULL };
	struct workload workload;
	struct signals signals;
	EXPECT_INT(start(&workload, &signals, argv, false), 0);
	EXPECT_STR(comm_of(workload.pid), "perf-exec");
	EXPECT(!workload_ended(&workload));
	EXPECT_INT(workload_run(&workload, NULL), 0);
	workload_wait(&workload, &signals);
	EXPECT(workload.reaped && WIFEXITED(workload.status) && WEXITSTATUS(workload.status) == 3);
	EXPECT(workload_ended(&workload) && workload.go == -1 && workload.failed == -1);
	EXPECT_INT(signals.ended_by, 0);
	workload_stop(&workload);
	signals_close(&signals);
}

TEST("a command that does not exist is an error with its reason, and its process ends")
{
	static const char *const argv[] = { "/no/such/program", NULL };
	struct workload workload;
	struct signals signals;
	struct error err = { 0 };
	EXPECT_INT(start(&workload, &signals, argv, false), 0);
	EXPECT(workload_run(&workload, &err) < 0);
	EXPECT_STR(err.text, "the command cannot be executed: No such file or directory");
	EXPECT_INT(err.sys, ENOENT);
	workload_wait(&workload, &signals);
	EXPECT(WIFEXITED(workload.status) && WEXITSTATUS(workload.status) == 255);
	signals_close(&signals);
}

TEST("a command that is given up before it runs ends without running; one that runs gets SIGTERM, also if it is stopped")
{
	static const char *const argv[] = { "sh", "-c", "kill -STOP $$; sleep 30", NULL };
	struct workload workload;
	struct signals signals;
	EXPECT_INT(start(&workload, &signals, argv, false), 0);
	workload_stop(&workload);
	workload_wait(&workload, &signals);
	EXPECT(workload.reaped && (WIFSIGNALED(workload.status) || WEXITSTATUS(workload.status) == 254));
	signals_close(&signals);
	EXPECT_INT(start(&workload, &signals, argv, false), 0);
	EXPECT_INT(workload_run(&workload, NULL), 0);
	siginfo_t stopped;
	EXPECT_INT(waitid(P_PID, (id_t)workload.pid, &stopped, WSTOPPED | WNOWAIT), 0);
	workload_stop(&workload);
	workload_wait(&workload, &signals);
	EXPECT(workload.reaped && WIFSIGNALED(workload.status) && WTERMSIG(workload.status) == SIGTERM);
	signals_close(&signals);
}

TEST("the output of a command goes to standard error if the recording goes to standard output")
{
	static const char *const argv[] = { "sh", "-c", "echo out; echo err >&2", NULL };
	for (int to_stderr = 0; to_stderr < 2; to_stderr++) {
		int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
		int old_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), old_err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		char text[2][32] = { 0 };
		struct workload workload;
		struct signals signals;
		fflush(stdout);
		EXPECT(dup2(out, STDOUT_FILENO) == STDOUT_FILENO && dup2(err, STDERR_FILENO) == STDERR_FILENO);
		int status = start(&workload, &signals, argv, to_stderr);
		if (status == 0)
			status = workload_run(&workload, NULL);
		workload_wait(&workload, &signals);
		signals_close(&signals);
		EXPECT(dup2(old_out, STDOUT_FILENO) == STDOUT_FILENO && dup2(old_err, STDERR_FILENO) == STDERR_FILENO);
		EXPECT_INT(status, 0);
		EXPECT(pread(out, text[0], sizeof text[0] - 1, 0) >= 0 && pread(err, text[1], sizeof text[1] - 1, 0) >= 0);
		EXPECT_STR(text[0], to_stderr ? "" : "out\n");
		EXPECT_STR(text[1], to_stderr ? "out\nerr\n" : "err\n");
		close(out);
		close(err);
		close(old_out);
		close(old_err);
	}
}
