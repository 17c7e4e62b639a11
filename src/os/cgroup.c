#include "os/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "os/file.h"

enum { DEPTH_MAX = 64, MOUNTS_MAX = 4 << 20 };

/* Returns whether "perf_event" is one of the comma-separated options. */
static bool has_option(const char *options, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = options; at; at = strchr(at, ',')) {
		if (*at == ',')
			at++;
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

bool cgroup_mount(char *path, size_t size, bool *unified)
{
	CLEANUP_STR struct str text = { 0 };
	bool found = false;
	if (file_read("/proc/self/mounts", &text, MOUNTS_MAX, NULL) < 0)
		return false;
	for (char *line = text.text, *next; line && *line; line = next) {
		char where[PATH_MAX], type[64], options[4096];
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%*s %4095s %63s %4095s", where, type, options) != 3)
			continue;
		bool v2 = strcmp(type, "cgroup2") == 0;
		bool v1 = strcmp(type, "cgroup") == 0 && has_option(options, "perf_event");
		if (!v1 && (!v2 || found))
			continue;
		snprintf(path, size, "%s", where);
		*unified = v2;
		found = true;
		if (v1)
			return true;
	}
	return found;
}

int cgroup_open(const char *name, struct error *err)
{
	char mount[PATH_MAX], path[2 * PATH_MAX];
	bool unified;
	if (!cgroup_mount(mount, sizeof mount, &unified)) {
		error_set(err, ERROR_UNSUPPORTED, "no cgroup file system for perf_event is mounted");
		return error_hint(err, "mount -t cgroup2 none /sys/fs/cgroup");
	}
	snprintf(path, sizeof path, "%s/%s", mount, name);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat root, folder;
	if (fd < 0)
		return error_system(err, "there is no cgroup %s", name);
	if (stat(mount, &root) == 0 && fstat(fd, &folder) == 0 && root.st_dev == folder.st_dev)
		return fd;
	close(fd);
	return error_set(err, ERROR_USAGE, "there is no cgroup %s: the folder is not in the file system of cgroups", name);
}

/* The id that the kernel reports is the folder's file handle. path: below folder; "": the folder itself. */
static bool folder_id(int folder, const char *path, uint64_t *id)
{
	_Alignas(struct file_handle) char bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
	struct file_handle *handle = (struct file_handle *)bytes;
	int mount;
	handle->handle_bytes = sizeof(uint64_t);
	if (name_to_handle_at(folder, path, handle, &mount, *path ? 0 : AT_EMPTY_PATH) != 0 || handle->handle_bytes != sizeof(uint64_t))
		return false;
	memcpy(id, handle->f_handle, sizeof *id);
	return true;
}

int cgroup_id(const char *name, uint64_t *id, struct error *err)
{
	CLEANUP_FD int fd = cgroup_open(name, err);
	if (fd < 0)
		return -1;
	return folder_id(fd, "", id) ? 0 : error_system(err, "cannot read the id of the cgroup %s", name);
}

struct walk {
	char path[PATH_MAX];
	size_t root;      /* length of the mount */
	int (*visit)(void *context, uint64_t id, const char *path);
	void *context;
};

static int walk_folder(struct walk *walk, size_t length, int depth)
{
	uint64_t id;
	if (folder_id(AT_FDCWD, walk->path, &id)) {
		int status = walk->visit(walk->context, id, length > walk->root ? walk->path + walk->root : "/");
		if (status < 0)
			return status;
	}
	DIR *dir = depth < DEPTH_MAX ? opendir(walk->path) : NULL;
	int status = 0;
	for (struct dirent *entry; dir && status >= 0 && (entry = readdir(dir));) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		int n = snprintf(walk->path + length, sizeof walk->path - length, "/%s", entry->d_name);
		if (n > 0 && (size_t)n < sizeof walk->path - length)
			status = walk_folder(walk, length + (size_t)n, depth + 1);
		walk->path[length] = '\0';
	}
	if (dir)
		closedir(dir);
	return status;
}

int cgroup_each(int (*visit)(void *context, uint64_t id, const char *path), void *context, struct error *err)
{
	struct walk walk = { .visit = visit, .context = context };
	bool unified;
	if (!cgroup_mount(walk.path, sizeof walk.path, &unified))
		return error_set(err, ERROR_UNSUPPORTED, "no cgroup file system is mounted");
	walk.root = strlen(walk.path);
	return walk_folder(&walk, walk.root, 0);
}
