#include "record/acquire/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.h"

/* As read, but not interrupted. */
static ssize_t read_pipe(int fd, void *bytes, size_t size)
{
	ssize_t n;
	do
		n = read(fd, bytes, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* What the child reads before it reports that it is ready. */
struct child {
	const char *const *argv;
	int go[2], failed[2];
	bool stdout_to_stderr;
	const struct signals *signals;
};

/* The child before its exec. It may share memory, and so errno, with its parent, which waits while the child's system calls may fail. */
static void __attribute__((noreturn)) run_child(const char *const *argv, int go, int failed, bool stdout_to_stderr,
	const struct signals *signals)
{
	char unused;
	signals_give(signals);
	if (stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	/* the name that existing recordings show before the exec */
	prctl(PR_SET_NAME, "perf-exec");
	if (!file_write(failed, "r", 1)) /* ready: the name is set */
		_exit(254);
	if (read_pipe(go, &unused, 1) != 1) /* the recorder gave up */
		_exit(254);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	int why = errno;
	_exit(file_write(failed, &why, sizeof why) ? 255 : 254);
}

static int child_main(void *argument)
{
	const struct child *child = argument;
	close(child->go[1]);
	close(child->failed[0]);
	run_child(child->argv, child->go[0], child->failed[1], child->stdout_to_stderr, child->signals);
}

enum { CHILD_STACK = 1 << 18 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MAY_SHARE = 0 }; /* sanitizers expect one stack for each thread of the memory */
#elif defined(__has_feature)
enum { MAY_SHARE = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) };
#else
enum { MAY_SHARE = 1 };
#endif

/* Emulators of system calls refuse a child that shares the memory: it gets a copy. */
static pid_t start_child(struct workload *workload, struct child *child)
{
	pid_t pid = -1;
	void *stack = MAY_SHARE ? mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0) : MAP_FAILED;
	if (stack != MAP_FAILED) {
		pid = clone(child_main, (char *)stack + CHILD_STACK, CLONE_VM | SIGCHLD, child);
		if (pid > 0)
			workload->stack = stack;
		else
			munmap(stack, CHILD_STACK);
	}
	if (pid < 0)
		pid = fork();
	if (pid == 0)
		child_main(child);
	return pid;
}

static void free_stack(struct workload *workload)
{
	if (workload->stack)
		munmap(workload->stack, CHILD_STACK);
	workload->stack = NULL;
}

int workload_start(struct workload *workload, const char *const *argv, bool stdout_to_stderr, const struct signals *signals,
	struct error *err)
{
	struct child child = { .argv = argv, .stdout_to_stderr = stdout_to_stderr, .signals = signals };
	*workload = (struct workload){ .go = -1, .failed = -1 };
	if (pipe2(child.go, O_CLOEXEC) != 0)
		return error_system(err, "cannot make a pipe");
	if (pipe2(child.failed, O_CLOEXEC) != 0) {
		error_system(err, "cannot make a pipe");
		close(child.go[0]);
		close(child.go[1]);
		return -1;
	}
	pid_t pid = start_child(workload, &child);
	if (pid < 0)
		error_system(err, "cannot start a process");
	close(child.go[0]);
	close(child.failed[1]);
	workload->go = child.go[1];
	workload->failed = child.failed[0];
	if (pid < 0)
		return -1;
	workload->pid = pid;
	char ready;
	return read_pipe(child.failed[0], &ready, 1) == 1 ? 0 : error_set(err, ERROR_SYSTEM, "the command's process ended early");
}

int workload_run(struct workload *workload, struct error *err)
{
	int why;
	bool sent = file_write(workload->go, "g", 1);
	int write_errno = errno;
	close(workload->go);
	workload->go = -1;
	ssize_t answer = read_pipe(workload->failed, &why, sizeof why); /* 0: the exec closed the pipe */
	close(workload->failed);
	workload->failed = -1;
	if (!sent) {
		errno = write_errno;
		return error_system(err, "the command's process cannot be started");
	}
	if (answer == 0)
		free_stack(workload);
	if (answer != (ssize_t)sizeof why)
		return 0;
	errno = why;
	return error_system(err, "the command cannot be executed");
}

bool workload_ended(struct workload *workload)
{
	if (!workload->reaped && workload->pid && waitpid(workload->pid, &workload->status, WNOHANG) == workload->pid)
		workload->reaped = true;
	if (workload->reaped)
		free_stack(workload);
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
