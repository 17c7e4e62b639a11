/* Makes known system calls, and prints each as a tracer must show it: "name(arguments) = result", without times. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char expected[1 << 16];
static size_t length;

static void __attribute__((format(printf, 2, 3))) made(long result, const char *format, ...)
{
	int error = errno;
	va_list args;
	va_start(args, format);
	length += (size_t)vsnprintf(expected + length, sizeof expected - length, format, args);
	va_end(args);
	if (result == -1)
		length += (size_t)sprintf(expected + length, " = -1 %s (%s)\n", strerrorname_np(error), strerror(error));
	else
		length += (size_t)sprintf(expected + length, " = %ld\n", result);
}

static void files(const char *folder)
{
	char path[512], buffer[64];
	snprintf(path, sizeof path, "%s/new \"file\"", folder);
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	made(fd, "openat(dfd: CWD, filename: \"%s/new \\\"file\\\"\", flags: RDWR|CLOEXEC|CREAT|EXCL, mode: IRUSR|IWUSR|IRGRP)", folder);
	made(syscall(SYS_write, fd, "hello\n", 6), "write(fd: %ld<%s>, buf: hello\\10, count: 6)", fd, path);
	made(syscall(SYS_lseek, fd, 1, SEEK_SET), "lseek(fd: %ld<%s>, offset: 1)", fd, path);
	made(syscall(SYS_read, fd, buffer, 3), "read(fd: %ld<%s>, buf: %#lx, count: 3)", fd, path, (unsigned long)buffer);
	long copy = syscall(SYS_dup, fd);
	made(copy, "dup(fildes: %ld)", fd);
	made(syscall(SYS_ftruncate, copy, 100), "ftruncate(fd: %ld<%s>, length: 100)", copy, path);
	made(syscall(SYS_close, fd), "close(fd: %ld<%s>)", fd, path);
	made(syscall(SYS_close, fd), "close(fd: %ld)", fd);
	made(syscall(SYS_fchmod, copy, 0700), "fchmod(fd: %ld<%s>, mode: IRWXU)", copy, path);
	made(syscall(SYS_close, copy), "close(fd: %ld<%s>)", copy, path);
	made(syscall(SYS_unlinkat, AT_FDCWD, path, 0), "unlinkat(dfd: CWD, pathname: \"%s/new \\\"file\\\"\")", folder);
	made(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR), "unlinkat(dfd: CWD, pathname: \"%s/new \\\"file\\\"\", flag: REMOVEDIR)",
		folder);
	made(syscall(SYS_openat, AT_FDCWD, "\033[31m\n\x7f", O_RDONLY), "openat(dfd: CWD, filename: \"\\033[31m\\012\\177\")");
	made(syscall(SYS_openat, AT_FDCWD, NULL, O_RDONLY), "openat(dfd: CWD)");
	made(syscall(SYS_faccessat, AT_FDCWD, "/no/such", R_OK | X_OK), "faccessat(dfd: CWD, filename: \"/no/such\", mode: RX)");
	made(syscall(SYS_fcntl, 0, F_GETFD), "fcntl(cmd: GETFD)");
}

static void memory(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	length += (size_t)sprintf(expected + length, "mmap(len: 4096, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS) = %#lx\n", (unsigned long)page);
	made(syscall(SYS_mprotect, page, 4096, PROT_NONE), "mprotect(start: %#lx, len: 4096, prot: NONE)", (unsigned long)page);
	made(syscall(SYS_madvise, page, 4096, MADV_DONTNEED), "madvise(start: %#lx, len_in: 4096, behavior: MADV_DONTNEED)", (unsigned long)page);
	made(syscall(SYS_munmap, page, 4096), "munmap(addr: %#lx, len: 4096)", (unsigned long)page);
	made(syscall(SYS_munmap, 1, 4096), "munmap(addr: 0x1, len: 4096)");
}

static void sockets(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	long fd = syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);
	made(fd, "socket(family: INET, type: DGRAM|CLOEXEC, protocol: UDP)");
	made(syscall(SYS_connect, fd, &in, sizeof in), "connect(fd: %ld, uservaddr: { .family: INET, port: 9, addr: 127.0.0.1 }, addrlen: 16)",
		fd);
	made(syscall(SYS_socket, AF_INET, SOCK_STREAM, 255 << 8), "socket(family: INET, type: STREAM, protocol: 65280)");
	made(syscall(SYS_kill, getpid(), 0), "kill(pid: %d (calls))", (int)getpid());
	made(syscall(SYS_tgkill, getpid(), getpid(), SIGCHLD), "tgkill(tgid: %d (calls), pid: %d (calls), sig: CHLD)", (int)getpid(),
		(int)getpid());
	made(syscall(SYS_kill, 0x7ffffff0, SIGUSR1), "kill(pid: 2147483632, sig: USR1)");
}

static void others(void)
{
	struct rlimit limit;
	struct timespec short_time = { 0, 1000 }, bad_time = { 1, -5 };
	made(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit), "prlimit64(resource: NOFILE, old_rlim: %#lx)", (unsigned long)&limit);
	made(syscall(SYS_nanosleep, &bad_time, NULL), "nanosleep(rqtp: { .tv_sec: 1, .tv_nsec: -5 })");
	made(syscall(SYS_nanosleep, &short_time, NULL), "nanosleep(rqtp: { .tv_sec: 0, .tv_nsec: 1000 })");
	made(syscall(SYS_prctl, PR_SET_NAME, "calls", 0, 0, 0), "prctl(option: SET_NAME, arg2: %#lx)", (unsigned long)"calls");
	made(syscall(SYS_getrandom, &limit, 4, 3), "getrandom(ubuf: %#lx, len: 4, flags: RANDOM|NONBLOCK)", (unsigned long)&limit);
	made(syscall(SYS_flock, 99, LOCK_SH | LOCK_NB), "flock(fd: 99, cmd: SH|NB)");
}

static void *thread(void *argument)
{
	made(syscall(SYS_umask, 022), "umask(mask: 18)");
	return NULL;
}

static void tasks(void)
{
	pthread_t other;
	int status;
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	pid_t child = fork();
	if (child == 0) {
		syscall(SYS_umask, 077);
		_exit(syscall(SYS_setpgid, -1, 0x7ffffff0) == -1 ? 7 : 0);
	}
	errno = EINVAL;
	waitpid(child, &status, 0);
	made(18, "umask(mask: 63)");
	errno = ESRCH;
	made(WEXITSTATUS(status) == 7 ? -1 : 0, "setpgid(pid: -1, pgid: 2147483632)");
}

int main(int argc, char **argv)
{
	close_range(3, ~0u, 0); /* descriptors that a tracer leaves open: numbers are the same under each */
	umask(022);
	syscall(SYS_getppid);
	files(argv[1]);
	memory();
	sockets();
	others();
	tasks();
	syscall(SYS_getppid);
	fwrite(expected, 1, length, stdout);
	return 3;
}
