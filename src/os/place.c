#include "os/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

/* State of resolving a path. */
struct walk {
	const char *path;            /* for messages */
	int at;                      /* the folder to which the rest is relative */
	unsigned links;
	bool private, links_checked;
	mode_t make;                 /* mode of missing folders; 0: they are not created */
	char name[NAME_MAX + 1], rest[PATH_MAX];
};

static bool is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

static bool others_can_write(const struct stat *st)
{
	bool group = st->st_mode & S_IWGRP && st->st_gid != 0 && st->st_gid != st->st_uid;
	return group || st->st_mode & S_IWOTH;
}

bool status_is_private(const struct stat *st)
{
	return is_trusted(st->st_uid) && !others_can_write(st);
}

/* last: it is the requested folder, where a sticky bit does not prevent others from creating files. */
static int check_folder(const struct walk *w, const struct stat *st, const char *name, bool last, struct error *err)
{
	if (!w->private)
		return 0;
	if (!is_trusted(st->st_uid))
		return error_set(err, ERROR_PERMISSION, "%s: the folder %s belongs to another user", w->path, name);
	if (others_can_write(st) && (last || !(st->st_mode & S_ISVTX)))
		return error_set(err, ERROR_PERMISSION, "%s: other users can write to the folder %s", w->path, name);
	return 0;
}

static bool walk_ends(const struct walk *w)
{
	return !w->rest[strspn(w->rest, "/")];
}

/* Continues in fd, a folder; takes ownership of it. */
static int walk_enter(struct walk *w, int fd, const struct stat *st, struct error *err)
{
	if (w->at >= 0)
		close(w->at);
	w->at = fd;
	return check_folder(w, st, w->name, walk_ends(w), err);
}

static int walk_from(struct walk *w, const char *start, struct error *err)
{
	struct stat st;
	int fd = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		error_system(err, "%s", w->path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	snprintf(w->name, sizeof w->name, "%s", start);
	return walk_enter(w, fd, &st, err);
}

static int walk_init(struct walk *w, const char *path, struct error *err)
{
	w->path = path;
	w->at = -1;
	if (!*path || strlen(path) >= sizeof w->rest) {
		errno = *path ? ENAMETOOLONG : ENOENT;
		return error_system(err, "%s", path);
	}
	strcpy(w->rest, path);
	return walk_from(w, *path == '/' ? "/" : ".", err);
}

/* Moves the next part from rest to name; false: no part is left. */
static bool walk_part(struct walk *w, struct error *err, int *failed)
{
	size_t skip = strspn(w->rest, "/"), len = strcspn(w->rest + skip, "/");
	*failed = 0;
	if (!len)
		return false;
	if (len > NAME_MAX) {
		errno = ENAMETOOLONG;
		*failed = error_system(err, "%s", w->path);
		return false;
	}
	memcpy(w->name, w->rest + skip, len);
	w->name[len] = '\0';
	memmove(w->rest, w->rest + skip + len, strlen(w->rest + skip + len) + 1);
	return true;
}

static bool is_of_proc(int fd)
{
	struct statfs fs;
	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Puts the text of the link fd in front of the rest. */
static int walk_follow(struct walk *w, int fd, const struct stat *st, struct error *err)
{
	char target[PATH_MAX], rest[2 * PATH_MAX];
	if (w->links_checked && !is_trusted(st->st_uid))
		return error_set(err, ERROR_PERMISSION, "%s: the link %s belongs to another user, and is not followed", w->path, w->name);
	ssize_t n = readlinkat(fd, "", target, sizeof target - 1);
	target[n > 0 ? n : 0] = '\0';
	errno = n < 0 ? errno : ++w->links > LINKS_MAX ? ELOOP : ENAMETOOLONG;
	if (n < 0 || w->links > LINKS_MAX || (size_t)snprintf(rest, sizeof rest, "%s/%s", target, w->rest) >= sizeof w->rest)
		return error_system(err, "%s", w->path);
	/* a path that ends with a slash is a folder, a link's target need not be */
	if (walk_ends(w))
		snprintf(rest, sizeof rest, "%s", target);
	strcpy(w->rest, rest);
	return *target == '/' ? walk_from(w, "/", err) : 0;
}

/* Opens the part w->name as *fd: no link, unless of /proc. 1: absent. Follows links: then *fd is -1. */
static int walk_look(struct walk *w, int *fd, struct stat *st, struct error *err)
{
	*fd = openat(w->at, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT)
		return 1;
	if (*fd < 0 || fstat(*fd, st) != 0)
		return error_system(err, "%s", w->path);
	if (!S_ISLNK(st->st_mode) || is_of_proc(*fd))
		return 0;
	int status = walk_follow(w, *fd, st, err);
	close(*fd);
	*fd = -1;
	return status;
}

/* Enters the folder that was opened. */
static int walk_into(struct walk *w, int fd, struct stat *st, struct error *err)
{
	/* only the kernel knows the target of such a link; the target is checked like any folder */
	if (S_ISLNK(st->st_mode)) {
		close(fd);
		fd = openat(w->at, w->name, O_PATH | O_CLOEXEC);
		if (fd < 0 || fstat(fd, st) != 0)
			return error_system(err, "%s", w->path);
	}
	if (S_ISDIR(st->st_mode))
		return walk_enter(w, fd, st, err);
	close(fd);
	errno = ENOTDIR;
	return error_system(err, "%s", w->path);
}

static int walk_make(const struct walk *w, struct error *err)
{
	errno = ENOENT;
	if (!w->make || (mkdirat(w->at, w->name, w->make) != 0 && errno != EEXIST))
		return error_system(err, "%s", w->path);
	return 0;
}

static int walk_whole(struct walk *w, struct error *err)
{
	int failed, fd;
	struct stat st;
	while (walk_part(w, err, &failed)) {
		int absent = walk_look(w, &fd, &st, err);
		if (absent > 0 && walk_make(w, err) == 0)
			absent = walk_look(w, &fd, &st, err);
		if (absent)
			return -1;
		if (fd >= 0 && walk_into(w, fd, &st, err) < 0)
			return -1;
	}
	return failed;
}

int private_folder_open(const char *path, unsigned how, struct error *err)
{
	bool check = !(how & FOLDER_ANYBODYS);
	mode_t mode = how & FOLDER_SECRET ? 0700 : 0755;
	if (!check && !(how & FOLDER_MAKE)) {
		int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? error_system(err, "%s", path) : fd;
	}
	struct walk w = { .make = how & FOLDER_MAKE ? mode : 0, .private = check, .links_checked = check };
	if (walk_init(&w, path, err) == 0 && walk_whole(&w, err) == 0)
		return w.at;
	if (w.at >= 0)
		close(w.at);
	return -1;
}

static void place_take(struct place *place, const struct stat *st)
{
	place->kind = S_ISREG(st->st_mode) ? PLACE_FILE : S_ISDIR(st->st_mode) ? PLACE_FOLDER : S_ISLNK(st->st_mode) ? PLACE_DESCRIPTOR :
		S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode) ? PLACE_DEVICE : PLACE_PIPE;
	place->foreign = !is_trusted(st->st_uid);
	place->device = st->st_dev;
	place->inode = st->st_ino;
	place->mode = st->st_mode & 0777;
}

/* Resolves the path up to the last part, which is opened. */
static int walk_to(struct walk *w, struct place *place, struct error *err)
{
	int failed, fd;
	struct stat st;
	while (walk_part(w, err, &failed)) {
		bool folder = w->rest[0] == '/', last = walk_ends(w);
		int absent = walk_look(w, &fd, &st, err);
		if (absent > 0 && last && !folder) {
			place->kind = PLACE_NEW;
			return 0;
		}
		if (absent) {
			errno = ENOENT;
			return absent < 0 ? -1 : error_system(err, "%s", w->path);
		}
		if (fd >= 0 && last) {
			place_take(place, &st);
			close(fd);
			return 0;
		}
		if (fd >= 0 && walk_into(w, fd, &st, err) < 0)
			return -1;
	}
	/* "/" or a link to it */
	place->kind = PLACE_FOLDER;
	strcpy(w->name, ".");
	return failed;
}

int place_find(struct place *place, const char *path, struct error *err)
{
	struct walk w = { .links_checked = geteuid() == 0 };
	*place = (struct place){ .folder = -1 };
	int status = walk_init(&w, path, err);
	if (status == 0)
		status = walk_to(&w, place, err);
	if (status == 0) {
		memcpy(place->name, w.name, sizeof w.name);
		place->folder = w.at;
	} else if (w.at >= 0) {
		close(w.at);
	}
	return status;
}

static bool is_refused(const struct place *place)
{
	return geteuid() == 0 && place->foreign && (place->kind == PLACE_FILE || place->kind == PLACE_PIPE);
}

static int refuse_path(const char *path, struct error *err)
{
	error_set(err, ERROR_PERMISSION, "%s belongs to another user: root does not write to it", path);
	return error_hint(err, "Remove it first, or choose another name.");
}

int place_open(const struct place *place, const char *path, int flags, mode_t mode, struct error *err)
{
	struct stat st;
	int empty = flags & O_APPEND ? 0 : O_TRUNC;
	int how = place->kind == PLACE_DESCRIPTOR ? empty : place->kind == PLACE_NEW ? O_CREAT | O_EXCL | O_NOFOLLOW : O_NOFOLLOW;
	if (is_refused(place))
		return refuse_path(path, err);
	int fd = openat(place->folder, place->name, flags | how | O_CLOEXEC | O_NOCTTY, mode);
	if (fd < 0)
		return error_system(err, "%s", path);
	if (place->kind == PLACE_DESCRIPTOR || place->kind == PLACE_NEW)
		return fd;
	bool same = fstat(fd, &st) == 0 && st.st_dev == place->device && st.st_ino == place->inode;
	if (same && (place->kind != PLACE_FILE || !empty || ftruncate(fd, 0) == 0))
		return fd;
	if (same)
		error_system(err, "%s", path);
	else
		error_set(err, ERROR_PERMISSION, "%s was replaced meanwhile", path);
	close(fd);
	return -1;
}

void place_close(struct place *place)
{
	if (place->folder >= 0)
		close(place->folder);
	place->folder = -1;
}

int place_write(const char *path, int flags, mode_t mode, struct error *err)
{
	struct place place;
	if (place_find(&place, path, err) < 0)
		return -1;
	int fd = place_open(&place, path, flags, mode, err);
	place_close(&place);
	return fd;
}

int place_read(const char *path, int flags, struct error *err)
{
	struct place place;
	if (place_find(&place, path, err) < 0)
		return -1;
	int fd = openat(place.folder, place.name, flags | O_CLOEXEC | (place.kind == PLACE_DESCRIPTOR ? 0 : O_NOFOLLOW));
	if (fd < 0)
		error_system(err, "%s", path);
	place_close(&place);
	return fd;
}

/* Creates the file beside the existing one, or opens that in place. */
static int open_at(struct fresh_file *file, const struct place *place, const char *path, mode_t mode, struct error *err)
{
	struct error beside = { 0 };
	bool regular = place->kind == PLACE_NEW || (place->kind == PLACE_FILE && !place->foreign);
	if (is_refused(place))
		return refuse_path(path, err);
	if (regular && fresh_open(file, place->folder, place->name, place->kind == PLACE_FILE ? S_IRUSR | S_IWUSR : mode, &beside) == 0) {
		if (place->kind != PLACE_FILE || fchmod(file->fd, place->mode) == 0)
			return 0;
		fresh_drop(file);
	}
	/* a folder that denies new files may contain a writable file; but on a full disk writing in place would lose its content */
	bool refused = beside.sys == EACCES || beside.sys == EPERM || beside.sys == EROFS;
	if (place->kind == PLACE_NEW || (regular && !refused)) {
		errno = beside.sys;
		return error_system(err, "%s", path);
	}
	file->folder = -1;
	file->fd = place_open(place, path, O_WRONLY, mode, err);
	return file->fd < 0 ? -1 : 0;
}

int fresh_open_named(struct fresh_file *file, const char *path, mode_t mode, struct error *err)
{
	struct place place;
	*file = (struct fresh_file){ .fd = -1, .folder = -1 };
	if (place_find(&place, path, err) < 0)
		return -1;
	int status = open_at(file, &place, path, mode, err);
	place_close(&place);
	return status;
}
