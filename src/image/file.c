#include "image/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int open_within(int root, const char *path)
{
	if (root < 0)
		return open(path, OPEN_FLAGS);
	struct open_how how = { .flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

static int open_regular(int root, const char *path, struct stat *st, struct error *err)
{
	int fd = open_within(root, path);
	if (fd < 0)
		return error_system(err, "cannot open %s", path);
	if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode)) {
		close(fd);
		return error_set(err, ERROR_UNSUPPORTED, "%s is not a regular file", path);
	}
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

int rooted_map(int root, const char *path, struct span *bytes, struct error *err)
{
	struct stat st;
	*bytes = (struct span){ 0 };
	int fd = open_regular(root, path, &st, err);
	if (fd < 0)
		return -1;
	void *data = st.st_size > 0 ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	int failed = data == MAP_FAILED ? error_system(err, "cannot map %s", path) : 0;
	close(fd);
	if (failed)
		return -1;
	*bytes = (struct span){ data, (size_t)st.st_size };
	return 0;
}

void rooted_unmap(struct span *bytes)
{
	if (bytes->len)
		munmap((void *)bytes->data, bytes->len);
	*bytes = (struct span){ 0 };
}

void rooted_release(struct span bytes)
{
	if (bytes.len)
		madvise((void *)bytes.data, bytes.len, MADV_DONTNEED);
}

int rooted_read(int root, const char *path, size_t limit, char **text, size_t *len, struct error *err)
{
	struct stat st;
	*text = NULL;
	*len = 0;
	int fd = open_regular(root, path, &st, err);
	if (fd < 0)
		return -1;
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
	close(fd);
	if (failed) {
		free(data);
		*len = 0;
		return -1;
	}
	*text = data;
	return 0;
}
