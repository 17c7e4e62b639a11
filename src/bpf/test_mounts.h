/* For tests: runs a part of one in a process with a BPF file system of its own. */
#pragma once
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

enum { OWN_MOUNTS_SKIP = 77 };

/* run returns 0: the test passes, or OWN_MOUNTS_SKIP. */
static inline void test_in_own_mounts(int (*run)(void))
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL) < 0)
			_exit(OWN_MOUNTS_SKIP);
		_exit(run());
	}
	EXPECT(child > 0 && waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == OWN_MOUNTS_SKIP)
		unit_skip("needs root, BPF, and a BPF file system that can be mounted");
	else
		EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
