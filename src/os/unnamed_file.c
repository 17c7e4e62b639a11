#include "os/unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/place.h"

static int refuse(const char *name, struct error *err)
{
	return error_set(err, ERROR_USAGE, "%s exists already", name);
}

static bool exists(const struct unnamed_file *file)
{
	struct stat st;
	return fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int folder_open(struct unnamed_file *file, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path;
	char folder[4096] = ".";
	if (!*leaf || strcmp(leaf, ".") == 0 || strcmp(leaf, "..") == 0 || strlen(leaf) >= sizeof file->name)
		return error_set(err, ERROR_USAGE, "'%s' is not the name of a file", path);
	size_t len = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
	if (len >= sizeof folder)
		return error_set(err, ERROR_LIMIT, "the path is longer than %zu bytes", sizeof folder);
	if (len)
		snprintf(folder, sizeof folder, "%.*s", (int)len, path);
	snprintf(file->name, sizeof file->name, "%s", leaf);
	struct place place;
	if (place_find(&place, folder, err) < 0)
		return -1;
	int link = place.kind == PLACE_DESCRIPTOR ? 0 : O_NOFOLLOW;
	file->folder = openat(place.folder, place.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | link);
	place_close(&place);
	return file->folder < 0 ? error_system(err, "cannot open the folder %s", folder) : 0;
}

/* Whether the file system has no files without a name, after an open that failed. */
static bool lacks_unnamed(void)
{
	return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT;
}

int unnamed_open(struct unnamed_file *file, const char *path, struct error *err)
{
	enum { MODE = 0666 };
	*file = (struct unnamed_file){ .fd = -1, .folder = -1, .fresh = { .fd = -1, .folder = -1 } };
	if (folder_open(file, path, err) < 0)
		return -1;
	if (exists(file)) {
		refuse(path, err);
		unnamed_drop(file);
		return -1;
	}
	file->fd = openat(file->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, MODE);
	if (file->fd < 0 && lacks_unnamed()) {
		if (fresh_open(&file->fresh, file->folder, file->name, MODE, err) == 0)
			file->fd = file->fresh.fd;
	} else if (file->fd < 0) {
		error_system(err, "cannot create %s", path);
	}
	if (file->fd >= 0)
		return 0;
	unnamed_drop(file);
	return -1;
}

int unnamed_temporary(struct error *err)
{
	enum { MODE = 0600 };
	const char *base = secure_getenv("TMPDIR");
	char name[4096];
	base = base && *base == '/' ? base : "/tmp";
	int fd = open(base, O_TMPFILE | O_RDWR | O_CLOEXEC, MODE);
	if (fd < 0 && lacks_unnamed()) {
		int len = snprintf(name, sizeof name, "%s/perfuse-XXXXXX", base);
		fd = (size_t)len < sizeof name ? mkostemp(name, O_CLOEXEC) : -1;
		if (fd >= 0)
			unlink(name);
	}
	return fd < 0 ? error_system(err, "cannot create a temporary file in %s", base) : fd;
}

int unnamed_keep(struct unnamed_file *file, struct error *err)
{
	int status = 0;
	char own[32];
	if (file->fresh.fd == file->fd) {
		status = exists(file) ? refuse(file->name, err) : fresh_keep(&file->fresh, err);
		file->fd = -1;
	} else {
		snprintf(own, sizeof own, "/proc/self/fd/%d", file->fd);
		if (linkat(AT_FDCWD, own, file->folder, file->name, AT_SYMLINK_FOLLOW) < 0)
			status = errno == EEXIST ? refuse(file->name, err) : error_system(err, "cannot create %s", file->name);
	}
	unnamed_drop(file);
	return status;
}

void unnamed_drop(struct unnamed_file *file)
{
	if (file->fresh.folder >= 0 || file->fresh.fd >= 0)
		fresh_drop(&file->fresh);
	else if (file->fd >= 0)
		close(file->fd);
	if (file->folder >= 0)
		close(file->folder);
	file->fd = file->folder = -1;
}
