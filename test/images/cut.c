/* Preloaded into perfuse: cuts a file short as soon as it was mapped, as whoever rewrites a file in place may.
 *
 *   CUT_FILE=PATH   the file
 *   CUT_AT=BYTES    its new length */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *result = (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
	const char *file = getenv("CUT_FILE");
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = fd >= 0 && file ? readlink(link, path, sizeof path - 1) : -1;
	if (n > 0) {
		path[n] = '\0';
		if (strcmp(path, file) == 0 && truncate(path, atol(getenv("CUT_AT"))) != 0)
			abort();
	}
	return result;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return mmap64(address, size, protection, flags, fd, offset);
}
