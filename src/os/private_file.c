#include "os/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "os/place.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)
#define FILE_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

static bool is_own(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

static int refuse_file(struct error *err, const char *name)
{
	return error_set(err, ERROR_PERMISSION, "%s belongs to somebody else, or others can write it", name);
}

/* Creates the last folder of base, if its parent belongs to the user. */
static void base_make(const char *base)
{
	char above[PATH_MAX];
	const char *slash = strrchr(base, '/');
	if (!slash || (size_t)(slash - base) >= sizeof above - 1)
		return;
	snprintf(above, sizeof above, "%.*s", slash == base ? 1 : (int)(slash - base), base);
	CLEANUP_FD int fd = place_read(above, FOLDER_FLAGS, NULL);
	if (fd >= 0 && is_own(fd))
		mkdirat(fd, slash + 1, 0700);
}

int private_folder(const char *base, bool make, struct error *err)
{
	struct error absent = { 0 };
	/* another user's link would choose the folder of root in which "perfuse" is made */
	CLEANUP_FD int above = place_read(base, FOLDER_FLAGS, &absent);
	if (above < 0 && make && absent.sys == ENOENT) {
		base_make(base);
		above = place_read(base, FOLDER_FLAGS, &absent);
	}
	if (above < 0) {
		if (err)
			*err = absent;
		return -1;
	}
	/* with sudo, HOME may still be that of the calling user */
	if (!is_own(above))
		return refuse_file(err, base);
	if (make)
		mkdirat(above, "perfuse", 0700);
	int folder = openat(above, "perfuse", FOLDER_FLAGS | O_NOFOLLOW);
	if (folder < 0)
		return error_system(err, "%s/perfuse", base);
	struct stat st;
	if (fstat(folder, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return folder;
	close(folder);
	return refuse_file(err, "perfuse");
}

int private_file_open(int folder, const char *name, size_t *size, struct error *err)
{
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | FILE_FLAGS);
	if (fd < 0)
		return errno == ELOOP ? refuse_file(err, name) : error_system(err, "%s", name);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IRWXG | S_IRWXO)) &&
	    (uint64_t)st.st_size <= SIZE_MAX) {
		*size = (size_t)st.st_size;
		return fd;
	}
	close(fd);
	return refuse_file(err, name);
}

int private_file_write(int folder, const char *name, const void *bytes, size_t len, struct error *err)
{
	char fresh[NAME_MAX + 1];
	if ((size_t)snprintf(fresh, sizeof fresh, "%s.new", name) >= sizeof fresh)
		return error_set(err, ERROR_LIMIT, "%s: the name is too long", name);
	/* one writer at a time: files of a killed writer can be removed, and do not accumulate */
	if (flock(folder, LOCK_EX | LOCK_NB) != 0)
		return error_system(err, "%s", name);
	unlinkat(folder, fresh, 0);
	CLEANUP_FD int fd = openat(folder, fresh, O_WRONLY | O_CREAT | O_EXCL | FILE_FLAGS, 0600);
	bool good = fd >= 0 && file_write(fd, bytes, len) && renameat(folder, fresh, folder, name) == 0;
	int failed = good ? 0 : error_system(err, "%s", name);
	if (fd >= 0 && !good)
		unlinkat(folder, fresh, 0);
	flock(folder, LOCK_UN);
	return failed;
}

int private_path(const char *path, char real[static PATH_MAX], struct error *err)
{
	char link[64];
	if (path[0] != '/')
		return error_set(err, ERROR_USAGE, "%s is not an absolute path", path);
	CLEANUP_FD int fd = private_folder_open(path, FOLDER_MAKE | FOLDER_SECRET, err);
	if (fd < 0)
		return -1;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, real, PATH_MAX - 1);
	if (n < 0)
		return error_system(err, "%s", path);
	real[n] = '\0';
	return 0;
}
