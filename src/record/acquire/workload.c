#include "record/acquire/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.h"

/* Returns whether all bytes arrived. */
static bool read_pipe(int fd, void *bytes, size_t size)
{
	ssize_t n;
	do
		n = read(fd, bytes, size);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

/* The child between fork and exec. */
static void __attribute__((noreturn)) run_child(const char *const *argv, int go, int failed, bool stdout_to_stderr,
	const struct signals *signals)
{
	char unused;
	signals_restore(signals);
	if (stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	/* the name that existing recordings show before the exec */
	prctl(PR_SET_NAME, "perf-exec");
	if (!file_write(failed, "r", 1)) /* ready: the name is set */
		_exit(254);
	if (!read_pipe(go, &unused, 1)) /* the recorder gave up */
		_exit(254);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	int why = errno;
	_exit(file_write(failed, &why, sizeof why) ? 255 : 254);
}

int workload_start(struct workload *workload, const char *const *argv, bool stdout_to_stderr, const struct signals *signals,
	struct error *err)
{
	int go[2], failed[2];
	*workload = (struct workload){ .go = -1, .failed = -1 };
	if (pipe2(go, O_CLOEXEC) != 0)
		return error_system(err, "cannot make a pipe");
	if (pipe2(failed, O_CLOEXEC) != 0) {
		error_system(err, "cannot make a pipe");
		close(go[0]);
		close(go[1]);
		return -1;
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(failed[0]);
		run_child(argv, go[0], failed[1], stdout_to_stderr, signals);
	}
	if (pid < 0)
		error_system(err, "cannot start a process");
	close(go[0]);
	close(failed[1]);
	workload->go = go[1];
	workload->failed = failed[0];
	if (pid < 0)
		return -1;
	workload->pid = pid;
	char ready;
	return read_pipe(failed[0], &ready, 1) ? 0 : error_set(err, ERROR_SYSTEM, "the command's process ended early");
}

int workload_run(struct workload *workload, struct error *err)
{
	int why;
	bool sent = file_write(workload->go, "g", 1);
	int write_errno = errno;
	close(workload->go);
	workload->go = -1;
	bool refused = read_pipe(workload->failed, &why, sizeof why);
	close(workload->failed);
	workload->failed = -1;
	if (!sent) {
		errno = write_errno;
		return error_system(err, "the command's process cannot be started");
	}
	if (!refused)
		return 0;
	errno = why;
	return error_system(err, "the command cannot be executed");
}

bool workload_ended(struct workload *workload)
{
	if (!workload->reaped && workload->pid && waitpid(workload->pid, &workload->status, WNOHANG) == workload->pid)
		workload->reaped = true;
	return workload->reaped;
}

void workload_stop(struct workload *workload)
{
	if (workload->go >= 0)
		close(workload->go);
	if (workload->failed >= 0)
		close(workload->failed);
	workload->go = workload->failed = -1;
	if (!workload->pid || workload_ended(workload))
		return;
	kill(workload->pid, SIGTERM);
	kill(workload->pid, SIGCONT); /* one that is stopped would not end */
}

void workload_wait(struct workload *workload, struct signals *signals)
{
	int before = signals->ended_by;
	bool again = false;
	while (workload->pid && !workload_ended(workload) && !again) {
		struct pollfd any = { .fd = signals->fd, .events = POLLIN };
		poll(&any, 1, -1);
		signals->ended_by = 0;
		signals_read(signals);
		again = signals->ended_by != 0;
		signals->ended_by = again ? signals->ended_by : before;
	}
	if (again)
		workload->pid = 0;
}
