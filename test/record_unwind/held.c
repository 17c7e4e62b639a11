/* Preloaded into the recorder: the thread that reads call frame information has to wait before it maps HELD_FILE, until HELD_OUTPUT, the
 * recording, has 8 MB. So much comes of nothing but stacks that are written as copies. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENOUGH_BYTES = 8 << 20, SECONDS_MAX = 120, TURNS_PER_SECOND = 100 };

static int is_held(int fd)
{
	const char *held = getenv("HELD_FILE");
	char name[64], path[4096];
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	ssize_t len = held ? readlink(name, path, sizeof path - 1) : -1;
	if (len < 0 || gettid() == getpid()) /* the program that is recorded maps it in its only thread */
		return 0;
	path[len] = '\0';
	return strcmp(path, held) == 0;
}

static void hold(void)
{
	const char *output = getenv("HELD_OUTPUT");
	struct stat st;
	for (int turn = 0; turn < SECONDS_MAX * TURNS_PER_SECOND; turn++) {
		if (output && stat(output, &st) == 0 && st.st_size >= ENOUGH_BYTES)
			return;
		usleep(1000000 / TURNS_PER_SECOND);
	}
}

void *mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);
	if (!next)
		next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	if (fd >= 0 && !(flags & MAP_ANONYMOUS) && is_held(fd))
		hold();
	return next(address, len, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t len, int protection, int flags, int fd, off_t offset)
{
	return mmap(address, len, protection, flags, fd, offset);
}
