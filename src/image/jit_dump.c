#include "image/jit_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/file.h"
#include "image/search.h"

/* O_NONBLOCK: a FIFO in its place is not waited for. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)

/* Closes the root. */
static int open_seen_from(int root, const char *path, int flags)
{
	int fd = rooted_descriptor(root, path, flags), failure = errno;
	if (root >= 0)
		close(root);
	errno = failure;
	return fd;
}

int jit_dump_open(int32_t pid, const char *path, const char *symfs, bool force, uint64_t *size, struct error *err)
{
	bool elsewhere = symfs && *symfs;
	int root = elsewhere ? root_open(symfs) : process_root(pid);
	if (path[0] != '/' || (elsewhere && root < 0))
		return error_set(err, ERROR_UNSUPPORTED, "%s cannot be looked for", path);
	int fd = open_seen_from(root, path, OPEN_FLAGS);
	struct stat st;
	if (fd < 0)
		return error_system(err, "cannot open %s", path);
	int failed = 0;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		failed = error_set(err, ERROR_UNSUPPORTED, "%s is not a regular file", path);
	else if (!force && st.st_uid && st.st_uid != geteuid())
		failed = error_set(err, ERROR_PERMISSION, "File %s not owned by current user or root", path);
	if (failed) {
		close(fd);
		return -1;
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

int jit_dump_folder(int32_t pid, const char *path, struct error *err)
{
	const char *shown = *path ? path : "/";
	int fd = open_seen_from(process_root(pid), shown, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? error_system(err, "cannot open %s", shown) : fd;
}

int jit_dump_create(int folder, const char *name, struct error *err)
{
	if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
		return error_system(err, "cannot replace %s", name);
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return fd < 0 ? error_system(err, "cannot create %s", name) : fd;
}
