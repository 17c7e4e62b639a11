#include "os/checked.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, ATTEMPTS = 16 };

bool checked_path(const char *path, struct error *err)
{
	const char *why = strlen(path) >= PATH_MAX ? "the path is too long" : NULL;
	for (const char *at = path; !why; at++) {
		size_t len = strcspn(at, "/");
		if (len == 0)
			why = *path == '/' ? "a path from the root folder" : "a path with an empty part";
		else if (len > NAME_MAX)
			why = "the name is too long";
		else if ((len == 1 && at[0] == '.') || (len == 2 && at[0] == '.' && at[1] == '.'))
			why = "a path with . or ..";
		at += len;
		if (!*at)
			break;
	}
	if (why)
		error_set(err, ERROR_FORMAT, "%.400s: %s is refused here", path, why);
	return !why;
}

static bool is_link(int folder, const char *name)
{
	struct stat st;
	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* Opens one part. A link fails with ELOOP whatever the flags. */
static int step(int folder, const char *name, int flags)
{
	struct stat st;
	int fd = openat(folder, name, flags | O_NOFOLLOW);
	if (fd < 0 && errno == ENOTDIR)
		errno = is_link(folder, name) ? ELOOP : ENOTDIR;
	if (fd < 0 || !(flags & O_PATH) || fstat(fd, &st) != 0 || !S_ISLNK(st.st_mode))
		return fd;
	close(fd);
	errno = ELOOP;
	return -1;
}

/* Without openat2 (Linux before 5.6, or a sandbox that denies it). */
static int open_by_steps(int folder, const char *path, int flags)
{
	char name[NAME_MAX + 1];
	int at = folder;
	for (;;) {
		size_t len = strcspn(path, "/");
		bool last = !path[len];
		memcpy(name, path, len);
		name[len] = '\0';
		int fd = step(at, name, last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC), failure = errno;
		if (at != folder)
			close(at);
		errno = failure;
		if (fd < 0 || last)
			return fd;
		at = fd;
		path += len + 1;
	}
}

/* The path is already checked. Sets errno. */
static int open_below(int folder, const char *path, int flags)
{
	flags |= O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY);
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_by_steps(folder, path, flags) : fd;
}

int checked_open(int folder, const char *path, int flags, struct error *err)
{
	if (!checked_path(path, err))
		return -1;
	int fd = open_below(folder, path, flags & ~(O_CREAT | O_NOFOLLOW));
	return fd < 0 ? error_system(err, "cannot open %s", path) : fd;
}

int checked_open_file(int folder, const char *path, struct error *err)
{
	struct stat st;
	int fd = checked_open(folder, path, O_RDONLY, err);
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return error_set(err, ERROR_UNSUPPORTED, "%s is not a regular file", path);
}

/* Opens the parent folder of the last part; *leaf: the last part. */
static int parent_open(int folder, const char *path, const char **leaf, struct error *err)
{
	char above[PATH_MAX];
	if (!checked_path(path, err))
		return -1;
	const char *slash = strrchr(path, '/');
	*leaf = slash ? slash + 1 : path;
	if (slash)
		snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
	int fd = slash ? open_below(folder, above, O_PATH | O_DIRECTORY) : fcntl(folder, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? error_system(err, "cannot open the folder of %s", path) : fd;
}

int checked_make(int folder, const char *path, mode_t mode, struct error *err)
{
	char name[NAME_MAX + 1];
	int at = folder;
	if (!checked_path(path, err))
		return -1;
	for (const char *rest = path;;) {
		size_t len = strcspn(rest, "/");
		memcpy(name, rest, len);
		name[len] = '\0';
		bool made = mkdirat(at, name, mode) == 0 || errno == EEXIST;
		int fd = made ? step(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, failure = errno;
		if (at != folder)
			close(at);
		errno = failure;
		if (fd < 0)
			return error_system(err, "cannot make the folder %s", path);
		if (!rest[len])
			return fd;
		at = fd;
		rest += len + 1;
	}
}

static int read_names(int fd, struct names *names)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (struct dirent *entry; (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			vec_push(&names->list, arena_string(&names->arena, entry->d_name, strlen(entry->d_name)));
	closedir(dir);
	return 0;
}

int checked_names(int folder, const char *path, struct names *names, struct error *err)
{
	if (path && !checked_path(path, err))
		return -1;
	int fd = path ? open_below(folder, path, O_RDONLY | O_DIRECTORY) : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return read_names(fd, names) < 0 ? error_system(err, "cannot list %s", path ? path : "the folder") : 0;
}

static bool temporary_name(char name[static 32])
{
	uint64_t number;
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return false;
	snprintf(name, 32, ".perfuse-%016llx", (unsigned long long)number);
	return true;
}

int checked_link(int folder, const char *path, const char *target, struct error *err)
{
	const char *leaf;
	char temporary[32];
	CLEANUP_FD int parent = parent_open(folder, path, &leaf, err);
	if (parent < 0)
		return -1;
	if (!temporary_name(temporary) || symlinkat(target, parent, temporary) != 0)
		return error_system(err, "cannot make the link %s", path);
	if (renameat(parent, temporary, parent, leaf) == 0)
		return 0;
	error_system(err, "cannot replace %s", path);
	unlinkat(parent, temporary, 0);
	return -1;
}

int checked_link_read(int folder, const char *path, char *target, size_t size, struct error *err)
{
	const char *leaf;
	CLEANUP_FD int parent = parent_open(folder, path, &leaf, err);
	if (parent < 0)
		return -1;
	ssize_t n = readlinkat(parent, leaf, target, size);
	if (n < 0)
		return error_system(err, "%s is not a symbolic link", path);
	if ((size_t)n >= size)
		return error_set(err, ERROR_LIMIT, "the link %s is too long", path);
	target[n] = '\0';
	return 0;
}

/* Removes the entry of that name in the folder, without following it. */
static int remove_entry(int folder, const char *name, dev_t device, unsigned depth)
{
	struct stat st;
	if (unlinkat(folder, name, 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	CLEANUP_FD int fd = step(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	errno = depth ? EXDEV : ELOOP;
	if (!depth || st.st_dev != device)
		return -1;
	CLEANUP_NAMES struct names names = { 0 };
	if (read_names(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &names) < 0)
		return -1;
	for (size_t i = 0; i < names.list.count; i++)
		if (remove_entry(fd, names.list.items[i], device, depth - 1) < 0)
			return -1;
	return unlinkat(folder, name, AT_REMOVEDIR);
}

int checked_remove(int folder, const char *path, struct error *err)
{
	const char *leaf;
	struct stat st;
	CLEANUP_FD int parent = parent_open(folder, path, &leaf, err);
	if (parent < 0)
		return -1;
	if (fstat(parent, &st) != 0 || remove_entry(parent, leaf, st.st_dev, DEPTH_MAX) < 0)
		return error_system(err, "cannot remove %s", path);
	return 0;
}

int fresh_open(struct fresh_file *file, int folder, const char *path, mode_t mode, struct error *err)
{
	const char *leaf;
	*file = (struct fresh_file){ .fd = -1, .folder = -1 };
	int parent = parent_open(folder, path, &leaf, err);
	if (parent < 0)
		return -1;
	snprintf(file->name, sizeof file->name, "%s", leaf);
	for (unsigned i = 0; file->fd < 0 && i < ATTEMPTS; i++) {
		if (!temporary_name(file->temporary))
			break;
		file->fd = openat(parent, file->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (file->fd < 0 && errno != EEXIST)
			break;
	}
	if (file->fd >= 0) {
		file->folder = parent;
		return 0;
	}
	error_system(err, "cannot create %s", path);
	close(parent);
	return -1;
}

int fresh_keep(struct fresh_file *file, struct error *err)
{
	int status = 0;
	/* some file systems report a full disk at close */
	if (close(file->fd) != 0 && errno != EINTR)
		status = error_system(err, "cannot write %s", file->name);
	file->fd = -1;
	if (file->folder < 0)
		return status;
	if (status == 0 && renameat(file->folder, file->temporary, file->folder, file->name) != 0)
		status = error_system(err, "cannot replace %s", file->name);
	if (status == 0)
		file->temporary[0] = '\0';
	fresh_drop(file);
	return status;
}

void fresh_drop(struct fresh_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->folder >= 0 && file->temporary[0])
		unlinkat(file->folder, file->temporary, 0);
	if (file->folder >= 0)
		close(file->folder);
	file->fd = file->folder = -1;
}
