#include "cmd/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/str.h"
#include "cmd/build_id_rows.h"
#include "data/bzip.h"
#include "data/tar.h"
#include "image/cache.h"
#include "image/search.h"
#include "os/file.h"

extern const struct command command_archive;

enum { CHUNK = 1 << 18, DEPTH_MAX = 8, OPEN_FOLDERS = 16 };

struct archive_options {
	bool all, unpack;
};

static const struct option archive_table[] = {
	OPT_BOOL(0, "all", struct archive_options, all, "the recording too"),
	OPT_BOOL(0, "unpack", struct archive_options, unpack, "put what an archive holds into the build-id cache"),
	OPT_END(),
};

static const char *const archive_usage[] = { "perf archive [--all] [<file>]", "perf archive --unpack [<archive>]", NULL };

/* One archive being written. */
struct packing {
	int fd;
	struct pool *pool;
	struct bzip_writer bzip;
	struct tar_writer tar;
};

static int write_packed(void *context, const void *bytes, size_t size, struct error *err)
{
	return bzip_write(context, bytes, size, err);
}

/* Takes fd over. */
static void packing_open(struct packing *p, int fd)
{
	*p = (struct packing){ .fd = fd, .pool = pool_new(0) };
	bzip_writer_open(&p->bzip, fd, p->pool);
	p->tar = (struct tar_writer){ .write = write_packed, .context = &p->bzip };
}

static int packing_finish(struct packing *p, struct error *err)
{
	return tar_finish(&p->tar, err) < 0 ? -1 : bzip_writer_finish(&p->bzip, err);
}

static void packing_close(struct packing *p)
{
	bzip_writer_close(&p->bzip);
	pool_free(p->pool);
	close(p->fd);
}

/* Exactly as many bytes as were announced, whatever becomes of the file meanwhile. */
static int pack_content(struct packing *p, int fd, const char *path, uint64_t size, struct error *err)
{
	CLEANUP_FREE char *chunk = memory_alloc(CHUNK);
	while (size) {
		size_t part = size < CHUNK ? (size_t)size : CHUNK;
		ssize_t n = read(fd, chunk, part);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(err, "cannot read %s", path);
		if (n == 0)
			return error_set(err, ERROR_FORMAT, "%s was cut short while it was read", path);
		if (tar_write(&p->tar, chunk, (size_t)n, err) < 0)
			return -1;
		size -= (uint64_t)n;
	}
	return 0;
}

static int pack_file(struct packing *p, const char *path, const char *name, const struct stat *st, struct error *err)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct tar_member member = { .kind = TAR_FILE, .name = name, .size = (uint64_t)st->st_size, .mode = st->st_mode & 0777,
		.time_s = st->st_mtime };
	if (fd < 0)
		return error_system(err, "cannot open %s", path);
	if (tar_add(&p->tar, &member, err) < 0)
		return -1;
	return pack_content(p, fd, path, member.size, err);
}

/* A file, link or folder with all that is in it, under that name. */
static int pack_tree(struct packing *p, const char *path, const char *name, unsigned depth, struct error *err)
{
	struct stat st;
	char target[PATH_MAX];
	if (lstat(path, &st) != 0)
		return error_system(err, "%s", path);
	if (S_ISREG(st.st_mode))
		return pack_file(p, path, name, &st, err);
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlink(path, target, sizeof target - 1);
		if (n < 0)
			return error_system(err, "%s", path);
		target[n] = '\0';
		struct tar_member link = { .kind = TAR_LINK, .name = name, .target = target, .mode = 0777, .time_s = st.st_mtime };
		return tar_add(&p->tar, &link, err);
	}
	if (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX)
		return 0;
	CLEANUP_STR struct str folder = { 0 };
	str_printf(&folder, "%s/", name);
	struct tar_member member = { .kind = TAR_FOLDER, .name = folder.text, .mode = 0755, .time_s = st.st_mtime };
	CLEANUP_NAMES struct names names = { 0 };
	int status = tar_add(&p->tar, &member, err) < 0 ? -1 : folder_names(path, &names, err);
	for (size_t i = 0; status >= 0 && i < names.list.count; i++) {
		CLEANUP_STR struct str below = { 0 };
		CLEANUP_STR struct str inner = { 0 };
		str_printf(&below, "%s/%s", path, names.list.items[i]);
		str_printf(&inner, "%s%s", folder.text, names.list.items[i]);
		status = pack_tree(p, below.text, inner.text, depth + 1, err);
	}
	return status;
}

/* The link and the folder that a cache holds for this id; 0: it holds none. */
static int pack_cached(struct packing *p, const char *dir, const struct build_id_row *row, struct error *err)
{
	char link[PATH_MAX], target[PATH_MAX], path[2 * PATH_MAX];
	if (!buildid_cache_path(dir, row->id, row->len, "", link, sizeof link) || access(link, F_OK) != 0)
		return 0;
	link[strlen(link) - 1] = '\0';
	ssize_t n = readlink(link, target, sizeof target - 1);
	if (n < 0)
		return 0;
	target[n] = '\0';
	if (strncmp(target, "../../", 6) != 0 || !archive_name_is_safe(target + 6))
		return error_set(err, ERROR_FORMAT, "%s leads out of the cache", link);
	snprintf(path, sizeof path, "%s/%s", dir, target + 6);
	if (pack_tree(p, link, link + strlen(dir) + 1, 0, err) < 0 || pack_tree(p, path, target + 6, 0, err) < 0)
		return -1;
	return 1;
}

/* What the cache lacks is taken from this machine, where it still has it, through a cache of the moment. */
static int pack_row(struct packing *p, struct cli *cli, const char *temporary, const struct build_id_row *row, struct error *err)
{
	int packed = pack_cached(p, cli->buildid_dir, row, err);
	if (packed)
		return packed;
	struct cached_file file = { .path = row->name, .root = -1, .id_len = row->len };
	memcpy(file.id, row->id, sizeof file.id);
	bool vdso = strcmp(row->name, "[vdso]") == 0, kernel = strcmp(row->name, "[kernel.kallsyms]") == 0;
	file.kind = vdso ? CACHED_VDSO : kernel ? CACHED_KALLSYMS : CACHED_FILE;
	if (cache_add(temporary, &file, NULL) >= 0 && (packed = pack_cached(p, temporary, row, err)))
		return packed;
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	build_id_hex(row->id, row->len, hex);
	cli_warn(cli, "%s (%s): not in the build-id cache, and no longer on this machine: left out", row->name, hex);
	return 0;
}

static int remove_entry(const char *path, __attribute__((unused)) const struct stat *st, __attribute__((unused)) int kind,
	__attribute__((unused)) struct FTW *ftw)
{
	return remove(path);
}

static int pack_rows(struct packing *p, struct cli *cli, const struct build_id_rows *rows, struct error *err)
{
	CLEANUP_STR struct str temporary = { 0 };
	const char *folder = getenv("TMPDIR");
	str_printf(&temporary, "%s/perfuse-archive-XXXXXX", folder && *folder ? folder : "/tmp");
	if (!mkdtemp(temporary.text))
		return error_system(err, "cannot make a folder %s", temporary.text);
	int status = 0;
	for (size_t i = 0; status >= 0 && i < rows->list.count; i++)
		if (rows->list.items[i].len > 1)
			status = pack_row(p, cli, temporary.text, &rows->list.items[i], err);
	nftw(temporary.text, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
	return status < 0 ? -1 : 0;
}

static int create(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return fd < 0 ? error_system(err, "cannot create %s", path) : fd;
}

static int write_symbols(struct cli *cli, const char *path, const struct build_id_rows *rows, struct error *err)
{
	struct packing p;
	int fd = create(path, err);
	if (fd < 0)
		return -1;
	packing_open(&p, fd);
	int status = pack_rows(&p, cli, rows, err);
	if (status == 0)
		status = packing_finish(&p, err);
	packing_close(&p);
	if (status < 0)
		unlink(path);
	return status;
}

/* The recording and the archive of its symbols in one. */
static int write_all(struct cli *cli, const char *data, const struct build_id_rows *rows, struct error *err)
{
	static const char symbols[] = "perf.symbols.tar.bz2";
	char host[256] = "localhost", stamp[32], path[512];
	time_t now = time(NULL);
	struct tm local;
	gethostname(host, sizeof host - 1);
	if (!localtime_r(&now, &local) || !strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local))
		return error_set(err, ERROR_SYSTEM, "cannot tell the time");
	snprintf(path, sizeof path, "perf.all-%s-%s.tar.bz2", host, stamp);
	if (write_symbols(cli, symbols, rows, err) < 0)
		return -1;
	struct packing p;
	int fd = create(path, err), status = fd;
	if (fd >= 0) {
		packing_open(&p, fd);
		status = pack_tree(&p, data, data + strspn(data, "/"), 0, err);
		if (status >= 0)
			status = pack_tree(&p, symbols, symbols, 0, err);
		if (status >= 0)
			status = packing_finish(&p, err);
		packing_close(&p);
	}
	unlink(symbols);
	if (status < 0)
		unlink(path);
	return status;
}

static bool has_ids(const struct build_id_rows *rows)
{
	for (size_t i = 0; i < rows->list.count; i++)
		if (rows->list.items[i].len)
			return true;
	return false;
}

static int archive_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	const struct archive_options *options = arg;
	const char *last = argc ? argv[argc - 1] : NULL, *data = last ? last : "perf.data";
	if (options->unpack)
		return archive_unpack(cli, last);
	struct build_id_rows rows;
	struct error err = { 0 };
	build_id_rows_read(&rows, data, false, true, &err);
	if (err.kind != ERROR_NONE)
		cli_complain(cli, &err);
	err = (struct error){ 0 };
	int status = 1;
	CLEANUP_STR struct str path = { 0 };
	str_printf(&path, "%s.tar.bz2", data);
	if (!has_ids(&rows))
		writer_printf(cli->out, "%s archive: no build-ids found\n", cli->program);
	else
		status = options->all ? write_all(cli, data, &rows, &err) : write_symbols(cli, path.text, &rows, &err);
	build_id_rows_fini(&rows);
	if (status < 0)
		return cli_complain(cli, &err);
	if (status == 0)
		writer_printf(cli->out, "Now please run:\n\n$ %s archive --unpack\n\nor unpack the tar manually wherever you need to run "
			"'%s report' on.\n", cli->program, cli->program);
	return status;
}

const struct command command_archive = {
	.name = "archive",
	.summary = "pack the files that a recording names",
	.usage = archive_usage,
	.options = archive_table,
	.options_size = sizeof(struct archive_options),
	.run = archive_run,
};
