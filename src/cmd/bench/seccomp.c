/* `sched seccomp-notify`: a process whose system calls another one answers (seccomp_unotify(2)). */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/bench/sched.h"

enum { CALLS = 1000000, ANSWER = 12345 };

/* Of Linux 6.6: the answering process and the waiting one take turns on one CPU. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
enum { SYNC_WAKE_UP = 1 };

/* From here on, each call of gettid waits for an answer. Returns the descriptor by which the calls are answered. */
static int listen_to_gettid(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = sizeof code / sizeof *code, .filter = code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static bool answer_one(int listener)
{
	struct seccomp_notif call = { 0 };
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
		return false;
	struct seccomp_notif_resp answer = { .id = call.id, .val = ANSWER };
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0;
}

static int answer_child(int listener, uint64_t calls, struct error *err)
{
	int status = 0, result = 0;
	pid_t child = fork();
	if (child < 0)
		return error_system(err, "cannot start a process");
	if (child == 0) {
		close(listener); /* else the end of the other process would be no end of the waiting */
		for (uint64_t i = 0; i < calls; i++)
			if (syscall(SYS_gettid) != ANSWER)
				_exit(1);
		_exit(0);
	}
	for (uint64_t i = 0; i < calls && result == 0; i++)
		if (!answer_one(listener))
			result = error_system(err, "a system call cannot be answered");
	close(listener); /* calls without an answer fail */
	if (waitpid(child, &status, 0) == child && status && result == 0)
		result = error_set(err, ERROR_SYSTEM, "the calling process failed");
	return result;
}

int bench_seccomp_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	const struct bench_options *options = filled;
	struct error err;
	uint64_t calls = options->rounds ? options->rounds : CALLS;
	int listener = listen_to_gettid();
	if (listener < 0 || (options->synchronous && ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) < 0)) {
		error_system(&err, "the kernel does not let a process answer system calls");
		return cli_complain(cli, &err);
	}
	uint64_t begin = now_ns();
	if (answer_child(listener, calls, &err) < 0)
		return cli_complain(cli, &err);
	uint64_t ns = now_ns() - begin;
	if (!bench_is_simple(options))
		writer_printf(cli->out, "# Executed %llu system calls\n\n", (unsigned long long)calls);
	bench_print_rate(cli, options, ns, calls);
	return 0;
}
