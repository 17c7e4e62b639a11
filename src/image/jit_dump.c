#include "image/jit_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "image/file.h"
#include "image/search.h"
#include "os/file.h"

/* Closes the root. */
static int open_seen_from(int root, const char *path, int flags)
{
	int fd = rooted_descriptor(root, path, flags), failure = errno;
	if (root >= 0)
		close(root);
	errno = failure;
	return fd;
}

static int open_dump(int folder, const char *path, bool force, uint64_t *size, struct error *err)
{
	CLEANUP_FD int place = openat(folder, strrchr(path, '/') + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int fd = place < 0 ? -1 : regular_reopen(place, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	if (fd < 0)
		return errno == ENOTSUP ? error_set(err, ERROR_UNSUPPORTED, "%s is not a regular file", path) :
			error_system(err, "cannot open %s", path);
	int failed = 0;
	if (fstat(fd, &st) != 0)
		failed = error_system(err, "cannot open %s", path);
	else if (!force && st.st_uid && st.st_uid != geteuid())
		failed = error_set(err, ERROR_PERMISSION, "File %s not owned by current user or root", path);
	if (failed) {
		close(fd);
		return -1;
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

int jit_dump_open_in(int32_t pid, const char *path, const char *symfs, bool force, uint64_t *size, int *folder, struct error *err)
{
	char above[PATH_MAX];
	bool elsewhere = symfs && *symfs;
	int root = elsewhere ? root_open(symfs) : process_root(pid);
	*folder = -1;
	if (path[0] != '/' || (elsewhere && root < 0) || strlen(path) >= sizeof above) {
		if (root >= 0)
			close(root);
		return error_set(err, ERROR_UNSUPPORTED, "cannot search for %s", path);
	}
	snprintf(above, sizeof above, "%.*s", (int)(strrchr(path, '/') - path), path);
	*folder = open_seen_from(root, *above ? above : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*folder < 0)
		return error_system(err, "cannot open %s", path);
	int fd = open_dump(*folder, path, force, size, err);
	if (fd < 0) {
		close(*folder);
		*folder = -1;
	}
	return fd;
}

int jit_dump_open(int32_t pid, const char *path, const char *symfs, bool force, uint64_t *size, struct error *err)
{
	int folder, fd = jit_dump_open_in(pid, path, symfs, force, size, &folder, err);
	if (folder >= 0)
		close(folder);
	return fd;
}

int jit_dump_create(int folder, const char *name, struct error *err)
{
	if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
		return error_system(err, "cannot replace %s", name);
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return fd < 0 ? error_system(err, "cannot create %s", name) : fd;
}
