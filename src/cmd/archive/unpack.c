#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"
#include "cmd/archive/archive.h"
#include "data/bzip.h"
#include "data/tar.h"
#include "image/cache.h"
#include "os/checked.h"
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

/* Stores the name as a path for os/checked.h, without "." and empty parts; "" is the folder itself. Returns false for absolute names and
 * names with "..". */
static bool name_make_plain(const char *name, struct str *plain)
{
	bool good = *name && *name != '/';
	str_puts(plain, "");
	for (const char *at = name; good && *at; at += strspn(at, "/")) {
		size_t len = strcspn(at, "/");
		if (len != 1 || *at != '.')
			str_printf(plain, "%s%.*s", plain->len ? "/" : "", (int)len, at);
		good = len != 2 || memcmp(at, "..", 2) != 0;
		at += len;
	}
	return good && (!plain->len || checked_path(plain->text, NULL));
}

/* Returns whether the target of a link of that plain name is in the folder: "../" at most as often as the name has folders, then names
 * alone. No member is unpacked through a link, so that these are the folders that contain the link. */
static bool link_is_safe(const char *name, const char *target)
{
	size_t folders = 0;
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/'))
		folders++;
	while (strncmp(target, "../", 3) == 0 && folders) {
		target += 3;
		folders--;
	}
	return checked_path(target, NULL);
}

/* Makes the folders that contain a member. */
static int parent_make(int root, const char *name, struct error *err)
{
	CLEANUP_FREE char *above = memory_string(name);
	char *slash = strrchr(above, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	CLEANUP_FD int fd = checked_make(root, above, 0755, err);
	return fd < 0 ? -1 : 0;
}

static int write_content(struct tar_reader *tar, int fd, const char *name, struct error *err)
{
	CLEANUP_FREE char *chunk = memory_alloc(CHUNK);
	ssize_t n;
	while ((n = tar_read(tar, chunk, CHUNK, err)) > 0) {
		if (!file_write(fd, chunk, (size_t)n))
			return error_system(err, "cannot write %s", name);
	}
	return (int)n;
}

/* Replaces an existing file by rename, as it may be in use. */
static int file_put(struct tar_reader *tar, const struct tar_member *m, int root, const char *name, struct error *err)
{
	struct fresh_file file;
	if (fresh_open(&file, root, name, m->mode & 0777, err) < 0)
		return -1;
	int status = write_content(tar, file.fd, m->name, err);
	struct timespec times[2] = { { .tv_sec = m->time_s }, { .tv_sec = m->time_s } };
	if (status == 0 && futimens(file.fd, times) != 0)
		status = error_system(err, "%s", m->name);
	if (status == 0)
		return fresh_keep(&file, err);
	fresh_drop(&file);
	return status;
}

static int member_unpack(struct tar_reader *tar, const struct tar_member *m, int root, struct error *err)
{
	CLEANUP_STR struct str name = { 0 };
	bool link = m->kind == TAR_LINK;
	if (m->kind != TAR_FILE && m->kind != TAR_FOLDER && !link)
		return error_set(err, ERROR_FORMAT, "%s: neither a file nor a folder nor a symbolic link: refused", m->name);
	if (!name_make_plain(m->name, &name) || (link && !link_is_safe(str_text(&name), m->target)))
		return error_set(err, ERROR_FORMAT, "%s%s%s leads out of the folder that it is unpacked in: refused", m->name,
			link ? " -> " : "", link ? m->target : "");
	if (!name.len)
		return m->kind == TAR_FOLDER ? 0 : error_set(err, ERROR_FORMAT, "%s is not the name of a file: refused", m->name);
	if (m->kind == TAR_FOLDER) {
		CLEANUP_FD int made = checked_make(root, name.text, 0755, err);
		return made < 0 ? -1 : 0;
	}
	if (parent_make(root, name.text, err) < 0)
		return -1;
	return link ? checked_link(root, name.text, m->target, err) : file_put(tar, m, root, name.text, err);
}

static void print_name(struct writer *out, const char *name)
{
	CLEANUP_FREE char *text = memory_string(name);
	text_make_printable(text);
	writer_printf(out, "%s\n", text);
}

/* Definitions of probes name places in programs of this machine, where the kernel then changes code: others' are not trusted. */
static bool is_probes(const struct tar_member *m)
{
	CLEANUP_STR struct str name = { 0 };
	const char *slash = name_make_plain(m->name, &name) ? strrchr(str_text(&name), '/') : NULL;
	return m->kind == TAR_FILE && slash && strcmp(slash + 1, "probes") == 0;
}

/* cache: root is the build-id cache. */
static int unpack_into(struct cli *cli, const char *path, int root, bool cache, struct error *err)
{
	struct opened a;
	struct tar_member m;
	int status = archive_open(&a, path, err);
	if (status < 0)
		return -1;
	while ((status = tar_next(&a.tar, &m, err)) > 0) {
		if (cache && is_probes(&m)) {
			cli_warn(cli, "%s: cached probes of another machine are left out", m.name);
			continue;
		}
		print_name(cli->out, m.name);
		if (member_unpack(&a.tar, &m, root, err) < 0) {
			status = -1;
			break;
		}
	}
	archive_close(&a);
	return status;
}

/* Unpacks into the build-id cache, which is made if it is absent. */
static int unpack_symbols(struct cli *cli, const char *path, struct error *err)
{
	CLEANUP_FD int cache = cache_open(cli->buildid_dir, CACHE_MAKE, err);
	return cache < 0 ? -1 : unpack_into(cli, path, cache, true, err);
}

/* Adds the names of members that exist in this folder to `here`. Returns whether the archive has the symbols exactly once. */
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

/* Unpacks the recording into this folder and its symbols into the cache. */
static int unpack_all(struct cli *cli, const char *path, struct error *err)
{
	CLEANUP_STR struct str here = { 0 };
	int valid = look_inside(path, &here, err);
	if (valid < 0)
		return -1;
	if (!valid) {
		writer_printf(cli->out, "Error: %s file is not valid (contains zero or multiple sub-tar files with debug symbols)\n", path);
		return EXIT_ERROR;
	}
	if (here.len && !may_overwrite(cli, here.text))
		return EXIT_ERROR;
	CLEANUP_FD int root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return error_system(err, "cannot open this folder");
	if (unpack_into(cli, path, root, false, err) < 0)
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

/* Finds perf*.tar.bz2 in this folder, and *.tar.bz2 in its folders perf*. */
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
		bool exists = lstat(path.text, &st) == 0;
		if (exists && ends_with(path.text, ".tar.bz2"))
			vec_push(&found->paths, memory_string(path.text));
		if (exists && S_ISDIR(st.st_mode))
			search(path.text, false, depth + 1, found);
		str_fini(&path);
	}
	if (dir)
		closedir(dir);
}

/* Returns the path of the only archive in this folder; prints a message and returns NULL if the number of archives is not one. */
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
		return EXIT_ERROR;
	}
	if (!path && !(path = found = find_archive(cli)))
		return EXIT_ERROR;
	bool all = strstr(path, "perf.all") && ends_with(path, ".tar.bz2");
	int status = all ? unpack_all(cli, path, &err) : unpack_symbols(cli, path, &err);
	return status < 0 ? cli_complain(cli, &err) : status;
}
