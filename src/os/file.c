#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/regular.h"

static int read_all(int fd, const char *path, struct str *out, size_t limit, struct error *err)
{
	size_t start = out->len;
	for (;;) {
		str_reserve(out, 8192);
		ssize_t n = read(fd, out->text + out->len, out->capacity - out->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(err, "cannot read %s", path);
		out->len += (size_t)n;
		out->text[out->len] = '\0';
		if (n == 0)
			return 0;
		if (out->len - start > limit)
			return error_set(err, ERROR_LIMIT, "%s is larger than %zu bytes", path, limit);
	}
}

int file_read(const char *path, struct str *out, size_t limit, struct error *err)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? error_system(err, "cannot open %s", path) : read_all(fd, path, out, limit, err);
}

int file_read_regular(const char *path, struct str *out, size_t limit, struct error *err)
{
	CLEANUP_FD int fd = regular_open(path, O_RDONLY);
	if (fd < 0 && errno == ENOTSUP)
		return error_set(err, ERROR_UNSUPPORTED, "%s is not a regular file", path);
	return fd < 0 ? error_system(err, "cannot open %s", path) : read_all(fd, path, out, limit, err);
}

bool file_line(const char *path, char *line, size_t size)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n;
	do
		n = read(fd, line, size - 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return true;
}

bool file_number(const char *path, int64_t *value)
{
	char line[64];
	if (!file_line(path, line, sizeof line))
		return false;
	char *end;
	errno = 0;
	long long number = strtoll(line, &end, 0);
	if (end == line || errno)
		return false;
	*value = number;
	return true;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool file_write(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;
	while (size) {
		ssize_t n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

int folder_names(const char *path, struct names *names, struct error *err)
{
	DIR *dir = opendir(path);
	if (!dir && errno == ENOMEM)
		memory_exhausted(0); /* a folder that is there must not seem to be absent */
	if (!dir)
		return error_system(err, "cannot open %s", path);
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		vec_push(&names->list, arena_string(&names->arena, entry->d_name, strlen(entry->d_name)));
	}
	closedir(dir);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void names_sort(struct names *names)
{
	if (names->list.count)
		qsort(names->list.items, names->list.count, sizeof names->list.items[0], compare_names);
}

void names_fini(struct names *names)
{
	vec_fini(&names->list);
	arena_fini(&names->arena);
}
