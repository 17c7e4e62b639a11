#include "os/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { TRACEFS_MAGIC_NUMBER = 0x74726163, TRACEFS_FILE_MAX = 64 << 20 };

static bool is_tracefs(const char *path)
{
	struct statfs fs;
	return statfs(path, &fs) == 0 && (unsigned long)fs.f_type == TRACEFS_MAGIC_NUMBER;
}

const char *tracefs_path(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing", "/tracing", "/trace" };
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (is_tracefs(places[i]))
			return places[i];
	bool mounted = mount("tracefs", places[0], "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RELATIME, NULL) == 0;
	return mounted ? places[0] : NULL;
}

static int tracefs_missing(struct error *err)
{
	error_set(err, ERROR_UNSUPPORTED, "tracefs is not mounted");
	return error_hint(err, "mount -t tracefs nodev /sys/kernel/tracing");
}

static int tracefs_refused(struct error *err)
{
	if (!err)
		return -1;
	if (err->kind == ERROR_PERMISSION)
		error_hint(err, "run as root, or: sudo mount -o remount,mode=755 %s", tracefs_path());
	return -1;
}

static int tracefs_name(char *path, size_t size, const char *name, struct error *err)
{
	const char *root = tracefs_path();
	if (!root)
		return tracefs_missing(err);
	int n = snprintf(path, size, "%s/%s", root, name);
	if (n < 0 || (size_t)n >= size)
		return error_set(err, ERROR_LIMIT, "the name %.64s… is too long for tracefs", name);
	return 0;
}

static int list_folders(const char *path, struct names *names, struct error *err)
{
	CLEANUP_NAMES struct names all = { 0 };
	if (folder_names(path, &all, err) < 0)
		return tracefs_refused(err);
	for (size_t i = 0; i < all.list.count; i++) {
		const char *name = all.list.items[i];
		if (strcmp(name, "enable") != 0 && strcmp(name, "filter") != 0 && strncmp(name, "header_", 7) != 0)
			vec_push(&names->list, arena_string(&names->arena, name, strlen(name)));
	}
	return 0;
}

int tracefs_systems(struct names *systems, struct error *err)
{
	char path[512];
	return tracefs_name(path, sizeof path, "events", err) < 0 ? -1 : list_folders(path, systems, err);
}

int tracefs_events(const char *system, struct names *events, struct error *err)
{
	char name[512], path[600];
	int n = snprintf(name, sizeof name, "events/%s", system);
	if (n < 0 || (size_t)n >= sizeof name)
		return error_set(err, ERROR_LIMIT, "the name %.64s… is too long for tracefs", system);
	return tracefs_name(path, sizeof path, name, err) < 0 ? -1 : list_folders(path, events, err);
}

int tracefs_id(const char *system, const char *event, uint64_t *id, struct error *err)
{
	char name[512], path[600];
	int64_t value;
	int n = snprintf(name, sizeof name, "events/%s/%s/id", system, event);
	if (n < 0 || (size_t)n >= sizeof name)
		return error_set(err, ERROR_LIMIT, "the name %.64s… is too long for tracefs", system);
	if (tracefs_name(path, sizeof path, name, err) < 0)
		return -1;
	errno = 0;
	if (!file_number(path, &value)) {
		if (errno == EACCES || errno == EPERM) {
			error_system(err, "cannot read %s", path);
			return tracefs_refused(err);
		}
		return error_set(err, ERROR_USAGE, "there is no tracepoint %s:%s", system, event);
	}
	*id = (uint64_t)value;
	return 0;
}

int tracefs_read(const char *name, struct str *out, struct error *err)
{
	char path[600];
	if (tracefs_name(path, sizeof path, name, err) < 0)
		return -1;
	return file_read(path, out, TRACEFS_FILE_MAX, err) < 0 ? tracefs_refused(err) : 0;
}

int tracefs_open_append(const char *name, struct error *err)
{
	char path[600];
	if (tracefs_name(path, sizeof path, name, err) < 0)
		return -1;
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0)
		return fd;
	error_system(err, "cannot write %s", path);
	return tracefs_refused(err);
}

int tracefs_append(int fd, const char *line, struct error *err)
{
	size_t len = strlen(line);
	ssize_t written = write(fd, line, len);
	if (written == (ssize_t)len)
		return 0;
	if (written >= 0)
		errno = EIO;
	return error_system(err, "Failed to write event");
}

/* Whether the folder is that of a tracepoint; reads its id. */
static bool entry_read(int folder, const char *name, uint64_t *id)
{
	char path[NAME_MAX + 4], text[24];
	snprintf(path, sizeof path, "%.*s/id", NAME_MAX, name);
	CLEANUP_FD int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	*id = strtoull(text, NULL, 10);
	return true;
}

/* The entries of a system that can be enabled are tracepoints, without exception; of others, those that have an id. */
static void entries_read(int folder, bool ids, struct tracefs_list *out)
{
	bool check = ids || faccessat(folder, "enable", F_OK, 0) != 0;
	size_t used = 0;
	for (size_t i = 0; i < out->list.count; i++) {
		struct tracefs_entry entry = out->list.items[i];
		if (!check || entry_read(folder, entry.name, &entry.id))
			out->list.items[used++] = entry;
	}
	out->list.count = used;
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct tracefs_entry *)a)->name, ((const struct tracefs_entry *)b)->name);
}

int tracefs_list(const char *system, bool ids, struct tracefs_list *out, struct error *err)
{
	char name[512], path[600];
	int n = snprintf(name, sizeof name, "events/%s", system);
	if (n < 0 || (size_t)n >= sizeof name)
		return error_set(err, ERROR_LIMIT, "the name %.64s… is too long for tracefs", system);
	if (tracefs_name(path, sizeof path, name, err) < 0)
		return -1;
	DIR *folder = opendir(path);
	if (!folder) {
		error_system(err, "cannot read %s", path);
		return tracefs_refused(err);
	}
	for (struct dirent *found; (found = readdir(folder));) {
		if (found->d_name[0] == '.' || found->d_type != DT_DIR)
			continue;
		struct tracefs_entry *entry = vec_add(&out->list);
		*entry = (struct tracefs_entry){ .name = arena_string(&out->arena, found->d_name, strlen(found->d_name)) };
	}
	entries_read(dirfd(folder), ids, out);
	closedir(folder);
	if (out->list.count)
		qsort(out->list.items, out->list.count, sizeof out->list.items[0], compare_entries);
	return 0;
}

void tracefs_list_fini(struct tracefs_list *list)
{
	vec_fini(&list->list);
	arena_fini(&list->arena);
}
