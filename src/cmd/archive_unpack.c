#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"
#include "cmd/archive.h"
#include "data/bzip.h"
#include "data/tar.h"
#include "os/file.h"

#define SYMBOLS "perf.symbols.tar.bz2"

enum { DEPTH_MAX = 16, CHUNK = 1 << 16 };

struct opened {
	int fd;
	struct bzip_reader *bzip;
	struct tar_reader tar;
};

static ssize_t read_packed(void *context, void *buffer, size_t size, struct error *err)
{
	return bzip_read(context, buffer, size, err);
}

static int archive_open(struct opened *a, const char *path, struct error *err)
{
	*a = (struct opened){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (a->fd < 0)
		return error_system(err, "cannot open %s", path);
	if (bzip_reader_open(&a->bzip, a->fd, err) < 0) {
		close(a->fd);
		return -1;
	}
	a->tar = (struct tar_reader){ .read = read_packed, .context = a->bzip };
	return 0;
}

static void archive_close(struct opened *a)
{
	tar_reader_fini(&a->tar);
	bzip_reader_close(a->bzip);
	close(a->fd);
}

bool archive_name_is_safe(const char *name)
{
	if (*name == '/' || *name == '\0')
		return false;
	for (const char *at = name; *at; at += strspn(at, "/")) {
		size_t len = strcspn(at, "/");
		if (len == 2 && at[0] == '.' && at[1] == '.')
			return false;
		at += len;
	}
	return true;
}

bool archive_link_is_safe(const char *name, const char *target)
{
	size_t folders = 0;
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/'))
		folders++;
	while (strncmp(target, "../", 3) == 0 && folders) {
		target += 3;
		folders--;
	}
	return archive_name_is_safe(target);
}

/* The folder that name lies in, made where it is not there; never through a link. *leaf: what is left of the name. */
static int parent_open(int root, const char *name, const char **leaf)
{
	int fd = dup(root);
	char part[NAME_MAX + 1];
	for (;;) {
		name += strspn(name, "/");
		size_t len = strcspn(name, "/"), next = len + strspn(name + len, "/");
		if (!name[next] || fd < 0)
			break;
		if (len > NAME_MAX) {
			close(fd);
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(part, name, len);
		part[len] = '\0';
		mkdirat(fd, part, 0755);
		int below = openat(fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = below;
		name += next;
	}
	*leaf = name;
	return fd;
}

static int write_content(struct tar_reader *tar, int fd, const char *name, struct error *err)
{
	CLEANUP_FREE char *chunk = memory_alloc(CHUNK);
	ssize_t n;
	while ((n = tar_read(tar, chunk, CHUNK, err)) > 0) {
		for (ssize_t at = 0, put; at < n; at += put) {
			put = write(fd, chunk + at, (size_t)(n - at));
			if (put < 0 && errno == EINTR)
				put = 0;
			if (put < 0)
				return error_system(err, "cannot write %s", name);
		}
	}
	return (int)n;
}

/* What was there under the name is replaced, not written over: it may be a link to a file in use. */
static int member_put(struct tar_reader *tar, const struct tar_member *m, int folder, const char *leaf, struct error *err)
{
	char name[NAME_MAX + 1];
	size_t len = strcspn(leaf, "/");
	if (len > NAME_MAX)
		return error_set(err, ERROR_LIMIT, "%s: the name is too long", m->name);
	memcpy(name, leaf, len);
	name[len] = '\0';
	if (m->kind == TAR_FOLDER)
		return mkdirat(folder, name, 0755) == 0 || errno == EEXIST ? 0 : error_system(err, "%s", m->name);
	if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
		return error_system(err, "cannot replace %s", m->name);
	if (m->kind == TAR_LINK)
		return symlinkat(m->target, folder, name) == 0 ? 0 : error_system(err, "%s", m->name);
	CLEANUP_FD int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, m->mode & 0777);
	if (fd < 0)
		return error_system(err, "%s", m->name);
	int status = write_content(tar, fd, m->name, err);
	struct timespec times[2] = { { .tv_sec = m->time_s }, { .tv_sec = m->time_s } };
	if (status == 0 && futimens(fd, times) != 0)
		return error_system(err, "%s", m->name);
	return status;
}

static int member_unpack(struct tar_reader *tar, const struct tar_member *m, int root, struct error *err)
{
	bool known = m->kind == TAR_FILE || m->kind == TAR_FOLDER || m->kind == TAR_LINK;
	if (!known)
		return error_set(err, ERROR_FORMAT, "%s: neither a file nor a folder nor a symbolic link: refused", m->name);
	if (!archive_name_is_safe(m->name) || (m->kind == TAR_LINK && !archive_link_is_safe(m->name, m->target)))
		return error_set(err, ERROR_FORMAT, "%s%s%s leads out of the folder that it is unpacked in: refused", m->name,
			m->kind == TAR_LINK ? " -> " : "", m->kind == TAR_LINK ? m->target : "");
	const char *leaf;
	CLEANUP_FD int folder = parent_open(root, m->name, &leaf);
	if (folder < 0)
		return error_system(err, "%s: no folder for it", m->name);
	return *leaf ? member_put(tar, m, folder, leaf, err) : 0;
}

static void print_name(struct writer *out, const char *name)
{
	CLEANUP_FREE char *text = memory_string(name);
	text_make_printable(text);
	writer_printf(out, "%s\n", text);
}

static int unpack_into(struct cli *cli, const char *path, int root, struct error *err)
{
	struct opened a;
	struct tar_member m;
	int status = archive_open(&a, path, err);
	if (status < 0)
		return -1;
	while ((status = tar_next(&a.tar, &m, err)) > 0) {
		print_name(cli->out, m.name);
		if (member_unpack(&a.tar, &m, root, err) < 0) {
			status = -1;
			break;
		}
	}
	archive_close(&a);
	return status;
}

/* Into the build-id cache, which is made where there is none. */
static int unpack_symbols(struct cli *cli, const char *path, struct error *err)
{
	char folder[PATH_MAX];
	if ((size_t)snprintf(folder, sizeof folder, "%s/", cli->buildid_dir) >= sizeof folder)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", cli->buildid_dir);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0755);
		*slash = '/';
	}
	CLEANUP_FD int root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? error_system(err, "cannot open %s", folder) : unpack_into(cli, path, root, err);
}

/* Which of an archive's members are here already, and whether it holds the symbols once. */
static int look_inside(const char *path, struct str *here, struct error *err)
{
	struct opened a;
	struct tar_member m;
	struct stat st;
	unsigned symbols = 0;
	int status = archive_open(&a, path, err);
	if (status < 0)
		return -1;
	while ((status = tar_next(&a.tar, &m, err)) > 0) {
		symbols += strcmp(m.name, SYMBOLS) == 0;
		if (!strchr(m.name, '/') && lstat(m.name, &st) == 0)
			str_printf(here, "%s%s", here->len ? " " : "", m.name);
	}
	archive_close(&a);
	return status < 0 ? -1 : symbols == 1;
}

static bool may_overwrite(struct cli *cli, const char *names)
{
	char answer[64];
	writer_printf(cli->out, "File(s) ");
	CLEANUP_FREE char *text = memory_string(names);
	text_make_printable(text);
	writer_printf(cli->out, "%s already exist in the current directory.\n", text);
	for (;;) {
		writer_flush(cli->out, NULL);
		if (isatty(STDIN_FILENO))
			fputs("Do you wish to overwrite them? ", stderr);
		if (!fgets(answer, sizeof answer, stdin) || answer[0] == 'n' || answer[0] == 'N')
			return false;
		if (answer[0] == 'y' || answer[0] == 'Y')
			return true;
		writer_puts(cli->out, "Please answer yes or no.\n");
	}
}

/* The recording goes here, the symbols to the cache. */
static int unpack_all(struct cli *cli, const char *path, struct error *err)
{
	CLEANUP_STR struct str here = { 0 };
	int valid = look_inside(path, &here, err);
	if (valid < 0)
		return -1;
	if (!valid) {
		writer_printf(cli->out, "Error: %s file is not valid (contains zero or multiple sub-tar files with debug symbols)\n", path);
		return 1;
	}
	if (here.len && !may_overwrite(cli, here.text))
		return 1;
	CLEANUP_FD int root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return error_system(err, "cannot open this folder");
	if (unpack_into(cli, path, root, err) < 0)
		return -1;
	return unpack_symbols(cli, SYMBOLS, err);
}

struct found {
	VEC(char *) paths;
};

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);
	return len >= n && strcmp(text + len - n, end) == 0;
}

/* Files ./perf….tar.bz2, in folders of such a name too. */
static void search(const char *folder, bool top, unsigned depth, struct found *found)
{
	DIR *dir = depth < DEPTH_MAX ? opendir(folder) : NULL;
	struct dirent *entry;
	struct stat st;
	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || (top && strncmp(entry->d_name, "perf", 4) != 0))
			continue;
		struct str path = { 0 };
		str_printf(&path, "%s/%s", folder, entry->d_name);
		bool there = lstat(path.text, &st) == 0;
		if (there && ends_with(path.text, ".tar.bz2"))
			vec_push(&found->paths, memory_string(path.text));
		if (there && S_ISDIR(st.st_mode))
			search(path.text, false, depth + 1, found);
		str_fini(&path);
	}
	if (dir)
		closedir(dir);
}

/* The one archive here; NULL, and said, where there is none or more than one. */
static char *find_archive(struct cli *cli)
{
	struct found found = { 0 };
	char *path = NULL;
	search(".", true, 0, &found);
	if (found.paths.count == 1) {
		path = found.paths.items[0];
		writer_printf(cli->out, "Found target file for unpacking: %s\n", path);
	} else {
		writer_printf(cli->out, "Error: %zu files found for unpacking:\n", found.paths.count);
		for (size_t i = 0; i < found.paths.count; i++) {
			print_name(cli->out, found.paths.items[i]);
			free(found.paths.items[i]);
		}
		writer_printf(cli->out, "%sProvide the requested file as an argument\n", found.paths.count ? "" : "\n");
	}
	vec_fini(&found.paths);
	return path;
}

int archive_unpack(struct cli *cli, const char *path)
{
	struct error err = { 0 };
	CLEANUP_FREE char *found = NULL;
	if (path && access(path, F_OK) != 0) {
		writer_printf(cli->out, "Provided file %s does not exist\n", path);
		return 1;
	}
	if (!path && !(path = found = find_archive(cli)))
		return 1;
	bool all = strstr(path, "perf.all") && ends_with(path, ".tar.bz2");
	int status = all ? unpack_all(cli, path, &err) : unpack_symbols(cli, path, &err);
	return status < 0 ? cli_complain(cli, &err) : status;
}
