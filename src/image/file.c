#include "image/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mapping.h"
#include "base/memory.h"
#include "base/regular.h"

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

#define LINKS_MAX 40u

int root_open(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* State of resolving the links of a path. */
struct walk {
	char done[PATH_MAX], rest[PATH_MAX];
};

static bool walk_add(struct walk *w, const char *name, size_t len)
{
	size_t at = strlen(w->done);
	if (len == 0 || (len == 1 && name[0] == '.'))
		return true;
	if (len == 2 && name[0] == '.' && name[1] == '.') {
		char *slash = strrchr(w->done, '/');
		*(slash ? slash : w->done) = '\0';
		return true;
	}
	return (size_t)snprintf(w->done + at, sizeof w->done - at, "%s%.*s", at ? "/" : "", (int)len, name) < sizeof w->done - at;
}

/* Replaces the link at the end of `done` by its target, in front of the rest. */
static bool walk_follow(struct walk *w, const char *link)
{
	char rest[PATH_MAX];
	char *slash = strrchr(w->done, '/');
	*(slash && link[0] != '/' ? slash : w->done) = '\0';
	if ((size_t)snprintf(rest, sizeof rest, "%s/%s", link, w->rest) >= sizeof rest)
		return false;
	memcpy(w->rest, rest, sizeof rest);
	return true;
}

/* Without openat2 (Linux before 5.6, or a sandbox that denies it): reads and follows each link here. */
static int open_by_steps(int root, const char *path, int flags)
{
	struct walk w = { 0 };
	char link[PATH_MAX];
	unsigned links = 0;
	errno = ENAMETOOLONG;
	if (strlen(path) >= sizeof w.rest)
		return -1;
	strcpy(w.rest, path);
	while (w.rest[0]) {
		size_t len = strcspn(w.rest, "/"), next = len + (w.rest[len] == '/');
		if (!walk_add(&w, w.rest, len))
			return -1;
		memmove(w.rest, w.rest + next, strlen(w.rest + next) + 1);
		bool last = !w.rest[strspn(w.rest, "/")];
		ssize_t n = w.done[0] && !(last && flags & O_NOFOLLOW) ? readlinkat(root, w.done, link, sizeof link - 1) : -1;
		if (n < 0)
			continue;
		link[n] = '\0';
		errno = ELOOP;
		if (++links > LINKS_MAX || !walk_follow(&w, link))
			return -1;
	}
	return openat(root, w.done[0] ? w.done : ".", flags | O_NOFOLLOW);
}

int rooted_descriptor(int root, const char *path, int flags)
{
	if (root < 0)
		return open(path, flags);
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_by_steps(root, path, flags) : fd;
}

static int open_regular(int root, const char *path, struct stat *st, struct error *err)
{
	int place = rooted_descriptor(root, path, O_PATH | O_CLOEXEC);
	int fd = place < 0 ? -1 : regular_reopen(place, OPEN_FLAGS), why = errno;
	if (place >= 0)
		close(place);
	errno = why;
	if (fd < 0 && why != ENOTSUP)
		return error_system(err, "cannot open %s", path);
	if (fd < 0 || fstat(fd, st) != 0)
		return error_set(err, ERROR_UNSUPPORTED, "%s is not a regular file", path);
	return fd;
}

int rooted_open(int root, const char *path, struct error *err)
{
	struct stat st;
	return open_regular(root, path, &st, err);
}

bool rooted_exists(int root, const char *path)
{
	struct stat st;
	if (root < 0)
		return stat(path, &st) == 0 && S_ISREG(st.st_mode);
	int fd = open_regular(root, path, &st, NULL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int descriptor_map(int fd, const char *path, struct span *bytes, struct error *err)
{
	struct stat st;
	*bytes = (struct span){ 0 };
	if (fstat(fd, &st) != 0)
		return error_system(err, "cannot open %s", path);
	void *data = st.st_size > 0 ? mapping_open(fd, (size_t)st.st_size) : NULL;
	if (!data && st.st_size > 0)
		return error_system(err, "cannot map %s", path);
	*bytes = (struct span){ data, (size_t)st.st_size };
	return 0;
}

int rooted_map(int root, const char *path, struct span *bytes, struct error *err)
{
	struct stat st;
	*bytes = (struct span){ 0 };
	int fd = open_regular(root, path, &st, err);
	if (fd < 0)
		return -1;
	int status = descriptor_map(fd, path, bytes, err);
	close(fd);
	return status;
}

void rooted_unmap(struct span *bytes)
{
	mapping_close((void *)bytes->data, bytes->len);
	*bytes = (struct span){ 0 };
}

void rooted_release(struct span bytes)
{
	if (bytes.len)
		madvise((void *)bytes.data, bytes.len, MADV_DONTNEED);
}

int descriptor_read(int fd, const char *path, size_t limit, char **text, size_t *len, struct error *err)
{
	struct stat st;
	*text = NULL;
	*len = 0;
	if (fstat(fd, &st) != 0)
		return error_system(err, "cannot read %s", path);
	size_t capacity = st.st_size > 0 && (size_t)st.st_size < limit ? (size_t)st.st_size + 1 : 1 << 16;
	char *data = memory_alloc(capacity);
	ssize_t n;
	while ((n = read(fd, data + *len, capacity - *len)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (size_t)n > limit - *len)
			break;
		*len += (size_t)n;
		if (*len == capacity)
			data = memory_resize(data, capacity *= 2, 1);
	}
	int failed = n < 0 ? error_system(err, "cannot read %s", path) : 0;
	if (n > 0)
		failed = error_set(err, ERROR_LIMIT, "%s is larger than %zu bytes", path, limit);
	if (failed) {
		free(data);
		*len = 0;
		return -1;
	}
	*text = data;
	return 0;
}

int rooted_read(int root, const char *path, size_t limit, char **text, size_t *len, struct error *err)
{
	struct stat st;
	*text = NULL;
	*len = 0;
	int fd = open_regular(root, path, &st, err);
	if (fd < 0)
		return -1;
	int status = descriptor_read(fd, path, limit, text, len, err);
	close(fd);
	return status;
}
