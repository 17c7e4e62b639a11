/* Runs a part of a test in a child process: as another user, or without openat2. */
#pragma once
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

enum { OTHER_USER = 64321 };

/* Makes openat2 fail with that error from here on, as on a kernel or in a sandbox without it. */
static inline bool refuse_openat2(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof code / sizeof *code, .filter = code };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
	       syscall(SYS_openat2, -1, "", NULL, 0) == -1 && errno == error;
}

/* Whether qemu's user mode is between the program and the kernel: it has no seccomp filters, passes on no SIGBUS, swaps no counts. */
static inline bool kernel_is_emulated(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0;
}

/* Returns the result of run(), 0 to 254, in a child that is `user` (0: the same), and without openat2 (0: with it). -1: the child
 * failed. */
static inline int in_child(int (*run)(void *), void *context, uid_t user, int openat2_error)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		if ((user && (setgid(user) != 0 || setuid(user) != 0)) || (openat2_error && !refuse_openat2(openat2_error)))
			_exit(255);
		_exit(run(context));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}
