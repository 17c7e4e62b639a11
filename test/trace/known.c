/* Calls with known arguments and results, for kernels in virtual machines: prints how often it called what. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STORM = 20000 };

int main(void)
{
	struct pollfd file = { 99, POLLIN | POLLPRI, 0 };
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} action = { SIG_IGN, SA_RESTART, NULL, 1 << (SIGTERM - 1) };
	syscall(SYS_openat, AT_FDCWD, "/no/such\n", O_RDWR | O_CLOEXEC, 0);
	syscall(SYS_ppoll, &file, 1, NULL, NULL, 8);
	syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8L);
	for (int i = 0; i < STORM; i++)
		syscall(SYS_getpgid, i % 4 ? 0 : -1);
	printf("calls %d errors %d\n", STORM, STORM / 4);
	return 3;
}
