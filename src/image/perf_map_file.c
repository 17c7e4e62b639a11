#include "image/perf_map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/regular.h"
#include "image/file.h"
#include "image/search.h"
#include "os/file.h"

/* The pid by which the process knows itself, which its perf map is named by. */
static int32_t inner_pid(int32_t pid)
{
	char path[64], *text, *at;
	size_t len;
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if (rooted_read(-1, path, 1 << 16, &text, &len, NULL) < 0)
		return pid;
	text = memory_resize(text, len + 1, 1);
	text[len] = '\0';
	at = strstr(text, "\nNStgid:");
	size_t line = at ? strcspn(at + 1, "\n") : 0;
	while (line && at[line] >= '0' && at[line] <= '9')
		line--;
	int32_t inner = line ? atoi(at + line + 1) : 0;
	free(text);
	return inner > 0 ? inner : pid;
}

static bool is_of_process(uid_t owner, int32_t pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d", pid);
	return pid > 0 && stat(path, &st) == 0 && st.st_uid == owner;
}

/* Opens a regular file that is no link; any other file is not opened, as a container can have devices. Sets errno: ENOTSUP. */
static int open_map(int root, const char *path, struct stat *st)
{
	CLEANUP_FD int place = rooted_descriptor(root, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int fd = place < 0 ? -1 : regular_reopen(place, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, st) == 0)
		return fd;
	close(fd);
	return -1;
}

static int read_one(int root, const char *path, int32_t pid, bool force, size_t limit, char **text, size_t *len, struct error *err)
{
	struct stat st;
	CLEANUP_FD int fd = open_map(root, path, &st);
	if (fd < 0 && errno == ENOTSUP)
		return error_set(err, ERROR_PERMISSION, "%s is a link, or not a regular file", path);
	if (fd < 0)
		return error_system(err, "cannot open %s", path);
	if (!force && st.st_uid && st.st_uid != geteuid() && !is_of_process(st.st_uid, pid))
		return error_set(err, ERROR_PERMISSION, "File %s not owned by current user or root", path);
	return descriptor_read(fd, path, limit, text, len, err);
}

int perf_map_file_open(int32_t pid, bool *ended)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d", pid);
	*ended = stat(path, &st) != 0;
	if (*ended)
		return -1;
	CLEANUP_FD int root = process_root(pid);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", inner_pid(pid));
	int fd = open_map(root, path, &st);
	if (fd >= 0 && st.st_nlink == 1 && is_of_process(st.st_uid, pid))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int perf_map_file_read(const struct module *module, int32_t pid, bool force, size_t limit, char **text, size_t *len, struct error *err)
{
	CLEANUP_FD int root = process_root(pid);
	if (root >= 0) {
		char path[64];
		snprintf(path, sizeof path, "/tmp/perf-%d.map", inner_pid(pid));
		if (read_one(root, path, pid, force, limit, text, len, NULL) == 0)
			return 0;
	}
	return read_one(-1, module->name, pid, force, limit, text, len, err);
}
