/* Preloaded into perfuse: makes the n-th call of a function fail, or transfer less than was asked for, as machines sometimes do.
 *
 *   FAULT=FUNCTION:WHAT:N[+]  FUNCTION as in calls[]; WHAT an error (ENOSPC …) or `short`; from the n-th on where + stands
 *   FAULT_MARK=FILE           is made when it happens
 *
 * Acts in programs named perfuse alone: what they start is left in peace, and so is stderr. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum call { READ, PREAD, WRITE, WRITEV, OPEN, MMAP, ALLOC, IOCTL, POLL, RENAME, CLOSE, CALLS };
enum { SHORT = -1 };

static const char *const calls[CALLS] = { "read", "pread", "write", "writev", "open", "mmap", "alloc", "ioctl", "poll", "rename", "close" };
static const struct {
	const char *name;
	int number;
} errors[] = {
	{ "ENOSPC", ENOSPC }, { "EIO", EIO }, { "EINTR", EINTR }, { "ENOMEM", ENOMEM }, { "EMFILE", EMFILE }, { "EACCES", EACCES },
	{ "EPERM", EPERM }, { "short", SHORT },
};

static enum call wanted = CALLS;
static int what;
static long nth;
static bool onwards;
static const char *mark;
static atomic_long seen;

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(text, word, len) == 0;
}

__attribute__((constructor)) static void fault_read(void)
{
	const char *text = getenv("FAULT"), *first = text ? strchr(text, ':') : NULL, *second = first ? strchr(first + 1, ':') : NULL;
	if (!second || strcmp(program_invocation_short_name, "perfuse") != 0)
		return;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (is_word(first + 1, (size_t)(second - first - 1), errors[i].name))
			what = errors[i].number;
	nth = atol(second + 1);
	onwards = strchr(second, '+') != NULL;
	mark = getenv("FAULT_MARK");
	for (int i = 0; what && i < CALLS; i++)
		if (is_word(text, (size_t)(first - text), calls[i]))
			wanted = (enum call)i;
}

/* Whether this call is the one; errno is set then. */
static bool strikes(enum call call)
{
	if (call != wanted)
		return false;
	long number = atomic_fetch_add(&seen, 1) + 1;
	if (number != nth && !(onwards && number > nth))
		return false;
	if (mark) {
		long fd = syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		syscall(SYS_close, fd);
	}
	errno = what == SHORT ? 0 : what;
	return true;
}

static size_t less(size_t size)
{
	return size > 1 ? size / 2 : size;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *buffer, size_t size)
{
	if (strikes(READ)) {
		if (what != SHORT)
			return -1;
		size = less(size);
	}
	return syscall(SYS_read, fd, buffer, size);
}

ssize_t pread64(int fd, void *buffer, size_t size, off64_t at)
{
	if (strikes(PREAD)) {
		if (what != SHORT)
			return -1;
		size = less(size);
	}
	return syscall(SYS_pread64, fd, buffer, size, at);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
	if (fd != STDERR_FILENO && strikes(WRITE)) {
		if (what != SHORT)
			return -1;
		size = less(size);
	}
	return syscall(SYS_write, fd, buffer, size);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
	if (fd != STDERR_FILENO && strikes(WRITEV)) {
		if (what != SHORT)
			return -1;
		return syscall(SYS_write, fd, pieces[0].iov_base, less(pieces[0].iov_len));
	}
	return syscall(SYS_writev, fd, pieces, count);
}

int open64(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	if (strikes(OPEN) && what != SHORT)
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
	if (strikes(MMAP) && what != SHORT)
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list rest;
	va_start(rest, request);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	if (strikes(IOCTL) && what != SHORT)
		return -1;
	return (int)syscall(SYS_ioctl, fd, request, argument);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	return strikes(POLL) && what != SHORT ? -1 : REAL(poll)(fds, count, timeout);
}

int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
	return strikes(POLL) && what != SHORT ? -1 : REAL(epoll_wait)(fd, events, count, timeout);
}

int rename(const char *from, const char *to)
{
	return strikes(RENAME) && what != SHORT ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	return strikes(RENAME) && what != SHORT ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

/* The descriptor is gone either way, as when a file system finds at the end that there was no room. Of files that are written alone. */
int close(int fd)
{
	int flags = wanted == CLOSE ? (int)syscall(SYS_fcntl, fd, F_GETFL) : 0;
	bool written = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
	bool fails = written && strikes(CLOSE) && what != SHORT;
	int result = (int)syscall(SYS_close, fd);
	if (fails)
		errno = what;
	return fails ? -1 : result;
}

/* glibc's own names for its allocator: nothing to look up, so nothing to allocate while looking. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	return strikes(ALLOC) && what != SHORT ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return strikes(ALLOC) && what != SHORT ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return strikes(ALLOC) && what != SHORT ? NULL : __libc_realloc(old, size);
}
