#include "data/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "data/source_internal.h"

static void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define CLEANUP_CLOSE __attribute__((cleanup(cleanup_close)))

size_t source_event_memory(struct budget *budget)
{
	enum { EVENTS_SHARE = 4 };
	return budget ? budget_limit(budget) / EVENTS_SHARE : 0;
}

static int check_owner(const struct stat *st, const char *path, const struct source_options *options, struct error *err)
{
	if (options->force || st->st_uid == 0 || st->st_uid == geteuid())
		return 0;
	return error_set(err, ERROR_PERMISSION, "File %s not owned by current user or root (use -f to override)", path);
}

static int open_regular(struct source **source, int fd, const struct stat *st, const char *path,
			const struct source_options *options, struct error *err)
{
	struct backing backing;
	if (check_owner(st, path, options, err) < 0)
		return -1;
	if (st->st_size == 0)
		return error_set(err, ERROR_FORMAT, "%s: the file is empty: there is nothing to read", path);
	const struct source *same = options->same;
	bool lent = same && same->device == st->st_dev && same->inode == st->st_ino && source_lend(same, &backing);
	if ((!lent && backing_load(&backing, fd, (uint64_t)st->st_size, path, err) < 0) ||
	    source_open_file(source, &backing, path, options->event_memory, err) < 0)
		return -1;
	(*source)->header.captured = st->st_mtime;
	(*source)->device = st->st_dev;
	(*source)->inode = st->st_ino;
	return 0;
}

static int open_descriptor(struct source **source, int fd, const struct stat *st, const char *path,
			   const struct source_options *options, struct error *err)
{
	if (S_ISREG(st->st_mode))
		return open_regular(source, fd, st, path, options, err);
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		return error_system(err, "%s: duplicating its descriptor", path);
	if (source_open_stream(source, own, path, err) < 0)
		return -1;
	(*source)->header.event_memory = options->event_memory;
	return 0;
}

/* A link that belongs to this user or root, such as /dev/fd/3, permits the pipe of another user behind it. */
static bool is_own_link(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid());
}

/* What must not be opened: opening a device has effects, and that of a FIFO waits for its user. */
static int check_stream(const struct stat *st, const char *path, const struct source_options *options, struct error *err)
{
	if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode))
		return 0;
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		return error_set(err, ERROR_FORMAT, "%s: a device is not a recording", path);
	return is_own_link(path) ? 0 : check_owner(st, path, options, err);
}

/* flags: O_NONBLOCK where a FIFO is no recording: nothing is waited for. */
static int open_path(int *fd, struct stat *st, const char *path, int flags, const struct source_options *options, struct error *err)
{
	char reopened[40];
	CLEANUP_CLOSE int place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0 && errno == ENOENT) {
		error_system(err, "failed to open %s", path);
		return error_hint(err, "'perfuse record' makes a recording");
	}
	if (place < 0)
		return error_system(err, "failed to open %s", path);
	if (fstat(place, st) != 0)
		return error_system(err, "%s: asking for its size", path);
	if (check_stream(st, path, options, err) < 0)
		return -1;
	snprintf(reopened, sizeof reopened, "/proc/self/fd/%d", place);
	*fd = open(reopened, O_RDONLY | O_CLOEXEC | flags);
	if (*fd < 0 && errno == ENOENT) /* without /proc */
		*fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	if (*fd < 0)
		return error_system(err, "failed to open %s", path);
	return fstat(*fd, st) != 0 ? error_system(err, "%s: asking for its size", path) : 0;
}

static int add_part(struct source *source, const char *path, const struct source_options *options, struct error *err)
{
	CLEANUP_CLOSE int fd = -1;
	struct stat st;
	struct backing backing;
	if (open_path(&fd, &st, path, O_NONBLOCK, options, err) < 0)
		return -1;
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return 0;
	if (check_owner(&st, path, options, err) < 0 || backing_load(&backing, fd, (uint64_t)st.st_size, path, err) < 0)
		return -1;
	return source_add_part(source, &backing, path, err);
}

/* Matches "data.N"; other files are ignored. */
static bool is_part(const char *name)
{
	static const char prefix[] = "data.";
	size_t len = sizeof prefix - 1;
	return strncmp(name, prefix, len) == 0 && name[len] && name[len + strspn(name + len, "0123456789")] == 0;
}

/* In the order of the folder's entries, as in perf: records of equal time then have the same order. */
static int add_parts(struct source *source, const char *folder, const struct source_options *options, struct error *err)
{
	int result = 0;
	DIR *dir = opendir(folder);
	if (!dir)
		return error_system(err, "%s: listing the folder", folder);
	for (struct dirent *entry; result >= 0 && (entry = readdir(dir));) {
		CLEANUP_STR struct str path = { 0 };
		if (!is_part(entry->d_name))
			continue;
		str_printf(&path, "%s/%s", folder, entry->d_name);
		result = add_part(source, str_text(&path), options, err);
	}
	closedir(dir);
	return result;
}

static int open_folder(struct source **source, const char *folder, const struct source_options *options, struct error *err)
{
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_STR struct str path = { 0 };
	struct stat st;
	str_printf(&path, "%s/data", folder);
	if (open_path(&fd, &st, str_text(&path), O_NONBLOCK, options, err) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_FORMAT, "%s: not a regular file", str_text(&path));
	if (open_regular(source, fd, &st, str_text(&path), options, err) < 0)
		return -1;
	(*source)->header.directory = true;
	if (options->header_only || add_parts(*source, folder, options, err) >= 0)
		return 0;
	source_close(*source);
	*source = NULL;
	return -1;
}

int source_open(struct source **source, const char *path, const struct source_options *options, struct error *err)
{
	static const struct source_options defaults;
	CLEANUP_CLOSE int fd = -1;
	struct stat st;
	*source = NULL;
	if (!options)
		options = &defaults;
	if (options->series) {
		struct source_paths paths;
		source_paths_find(&paths, path);
		int result = paths.count ? source_open_series(source, &paths, options, err) : 1;
		source_paths_fini(&paths);
		if (result <= 0)
			return result;
	}
	if (strcmp(path, "-") == 0) {
		if (fstat(STDIN_FILENO, &st) != 0)
			return error_system(err, "standard input");
		/* the process that opened it had permission */
		struct source_options permitted = { .force = true, .event_memory = options->event_memory };
		return open_descriptor(source, STDIN_FILENO, &st, path, &permitted, err);
	}
	if (open_path(&fd, &st, path, options->member ? O_NONBLOCK : 0, options, err) < 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return open_folder(source, path, options, err);
	if (options->member && !S_ISREG(st.st_mode))
		return error_set(err, ERROR_UNSUPPORTED, "%s: a stream cannot be read together with others", path);
	return open_descriptor(source, fd, &st, path, options, err);
}

int source_open_memory(struct source **source, const void *bytes, size_t len, struct error *err)
{
	struct backing backing = { .bytes = memory_alloc(len + 1), .size = len };
	if (len)
		memcpy(backing.bytes, bytes, len);
	*source = NULL;
	return source_open_file(source, &backing, "memory", 0, err);
}

void source_set_window(struct source *source, uint64_t from_ns, uint64_t until_ns)
{
	if (source->ops->set_window)
		source->ops->set_window(source, from_ns, until_ns);
}

void source_close(struct source *source)
{
	if (source)
		source->ops->close(source);
}
