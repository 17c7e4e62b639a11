#include "cmd/archive/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/regular.h"
#include "base/str.h"
#include "cmd/build_id_rows.h"
#include "cmd/environment.h"
#include "cmd/loss_summary.h"
#include "data/bzip.h"
#include "data/tar.h"
#include "image/cache.h"
#include "image/search.h"
#include "os/checked.h"
#include "os/file.h"
#include "os/place.h"

extern const struct command command_archive;

enum { CHUNK = 1 << 18, DEPTH_MAX = 8 };

struct archive_options {
	bool all, unpack;
};

static const struct option archive_table[] = {
	OPT_BOOL(0, "all", struct archive_options, all, "the recording too"),
	OPT_BOOL(0, "unpack", struct archive_options, unpack, "unpack an archive into the build-id cache"),
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

/* fd: borrowed. */
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
}

/* Writes exactly the announced number of bytes, even if the file changes meanwhile. */
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

/* Packs an open regular file from its beginning. */
static int pack_open_file(struct packing *p, int fd, const char *name, mode_t mode, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return error_set(err, ERROR_UNSUPPORTED, "%s is not a regular file", name);
	struct tar_member member = { .kind = TAR_FILE, .name = name, .size = (uint64_t)st.st_size,
		.mode = (mode ? mode : st.st_mode) & 0777, .time_s = st.st_mtime };
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_system(err, "cannot read %s", name);
	if (tar_add(&p->tar, &member, err) < 0)
		return -1;
	return pack_content(p, fd, name, member.size, err);
}

static int pack_tree(struct packing *p, int folder, const char *path, const char *lead, unsigned depth, struct error *err);

static int pack_names(struct packing *p, int folder, const char *path, const char *lead, unsigned depth, struct error *err)
{
	CLEANUP_NAMES struct names names = { 0 };
	int status = checked_names(folder, path, &names, err);
	for (size_t i = 0; status >= 0 && i < names.list.count; i++) {
		CLEANUP_STR struct str below = { 0 };
		str_printf(&below, "%s%s%s", path ? path : "", path ? "/" : "", names.list.items[i]);
		status = pack_tree(p, folder, below.text, lead, depth + 1, err);
	}
	return status;
}

/* Packs a file, or a folder with its content, under the name `lead` + path. Links and other types of files are left out. */
static int pack_tree(struct packing *p, int folder, const char *path, const char *lead, unsigned depth, struct error *err)
{
	struct stat st;
	struct error why = { 0 };
	CLEANUP_STR struct str name = { 0 };
	CLEANUP_FD int seen = checked_open(folder, path, O_PATH, &why);
	if (seen < 0 || fstat(seen, &st) != 0) {
		*err = why;
		return why.sys == ELOOP ? 0 : -1;
	}
	str_printf(&name, "%s%s%s", lead, path, S_ISDIR(st.st_mode) ? "/" : "");
	/* of the cache: probes of this machine are of no use elsewhere, and left out by --unpack */
	if (S_ISREG(st.st_mode) && !*lead && strcmp(strrchr(path, '/'), "/probes") == 0)
		return 0;
	if (S_ISREG(st.st_mode)) {
		CLEANUP_FD int fd = checked_open_file(folder, path, err);
		return fd < 0 ? -1 : pack_open_file(p, fd, name.text, 0, err);
	}
	if (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX)
		return 0;
	struct tar_member member = { .kind = TAR_FOLDER, .name = name.text, .mode = 0755, .time_s = st.st_mtime };
	return tar_add(&p->tar, &member, err) < 0 ? -1 : pack_names(p, folder, path, lead, depth, err);
}

/* Packs the link and the folder that a cache has for this id; 0: it has none. */
static int pack_cached(struct packing *p, int cache, const struct build_id_row *row, struct error *err)
{
	char folder[PATH_MAX], target[PATH_MAX + 8], link[PATH_MAX];
	struct error why = { 0 };
	if (cache < 0 || !cache_find(cache, row->id, row->len, folder, &why)) {
		if (why.kind != ERROR_FORMAT)
			return 0;
		*err = why;
		return -1;
	}
	buildid_cache_path("", row->id, row->len, "", link, sizeof link);
	link[strlen(link) - 1] = '\0';
	snprintf(target, sizeof target, "../../%s", folder);
	struct tar_member member = { .kind = TAR_LINK, .name = link + 1, .target = target, .mode = 0777, .time_s = time(NULL) };
	return tar_add(&p->tar, &member, err) < 0 || pack_tree(p, cache, folder, "", 0, err) < 0 ? -1 : 1;
}

/* A file that the user's cache lacks is first copied from this machine to the temporary cache, if it still exists. */
static int pack_row(struct packing *p, struct cli *cli, int own, int temporary, const struct build_id_row *row, struct error *err)
{
	int packed = pack_cached(p, own, row, err);
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

/* folder: becomes a temporary cache for files that the user's cache lacks; its content is removed. */
static int pack_rows_with(struct packing *p, struct cli *cli, const char *folder, const struct build_id_rows *rows, struct error *err)
{
	CLEANUP_FD int temporary = cache_open(folder, CACHE_CHANGE, err);
	const char *dir = environment_cache(cli, false);
	CLEANUP_FD int own = dir ? cache_open(dir, CACHE_READ, NULL) : -1;
	CLEANUP_NAMES struct names names = { 0 };
	int status = temporary < 0 ? -1 : 0;
	for (size_t i = 0; status >= 0 && i < rows->list.count; i++)
		if (rows->list.items[i].len > 1)
			status = pack_row(p, cli, own, temporary, &rows->list.items[i], err);
	if (temporary >= 0 && checked_names(temporary, NULL, &names, NULL) == 0)
		for (size_t i = 0; i < names.list.count; i++)
			checked_remove(temporary, names.list.items[i], NULL);
	return status < 0 ? -1 : 0;
}

static int pack_rows(struct packing *p, struct cli *cli, const struct build_id_rows *rows, struct error *err)
{
	CLEANUP_STR struct str temporary = { 0 };
	const char *folder = secure_getenv("TMPDIR");
	str_printf(&temporary, "%s/perfuse-archive-XXXXXX", folder && *folder ? folder : "/tmp");
	if (!mkdtemp(temporary.text))
		return error_system(err, "cannot make a folder %s", temporary.text);
	int status = pack_rows_with(p, cli, temporary.text, rows, err);
	rmdir(temporary.text);
	return status;
}

/* Writes the archive of symbols to an open file. */
static int write_symbols(struct cli *cli, int fd, const struct build_id_rows *rows, struct error *err)
{
	struct packing p;
	packing_open(&p, fd);
	int status = pack_rows(&p, cli, rows, err);
	if (status == 0)
		status = packing_finish(&p, err);
	packing_close(&p);
	return status;
}

/* The file or folder that is packed, opened once: in a folder of another user, its path may become a link to another file. */
struct recording {
	const char *path;
	int fd;
	struct stat st;
};

static int recording_open(struct recording *recording, const char *path, struct error *err)
{
	*recording = (struct recording){ .path = path, .fd = regular_open(path, O_RDONLY) };
	if (recording->fd < 0 && errno == ENOTSUP)
		recording->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (recording->fd < 0 || fstat(recording->fd, &recording->st) != 0)
		return error_system(err, "cannot open %s", path);
	uid_t owner = recording->st.st_uid;
	return owner == 0 || owner == geteuid() ? 0 : error_set(err, ERROR_PERMISSION, "%s belongs to another user", path);
}

/* The permissions of an archive: it has the kernel's addresses, and with --all the samples, for those who can read the recording. */
static mode_t archive_mode(const struct recording *recording)
{
	return (recording->fd < 0 ? 0 : recording->st.st_mode & 0666) | S_IRUSR | S_IWUSR;
}

/* Packs a file, or a folder with its content. */
static int pack_recording(struct packing *p, const struct recording *recording, struct error *err)
{
	const char *name = recording->path + strspn(recording->path, "/");
	if (!S_ISDIR(recording->st.st_mode))
		return pack_open_file(p, recording->fd, name, 0, err);
	CLEANUP_STR struct str lead = { 0 };
	str_printf(&lead, "%s/", name);
	struct tar_member member = { .kind = TAR_FOLDER, .name = lead.text, .mode = 0755, .time_s = recording->st.st_mtime };
	return tar_add(&p->tar, &member, err) < 0 ? -1 : pack_names(p, recording->fd, NULL, lead.text, 0, err);
}

/* Packs the recording and the archive of its symbols into one archive. */
static int pack_all(struct cli *cli, int fd, int symbols, const struct recording *recording, const struct build_id_rows *rows,
	struct error *err)
{
	struct packing p;
	if (write_symbols(cli, symbols, rows, err) < 0)
		return -1;
	packing_open(&p, fd);
	int status = pack_recording(&p, recording, err);
	if (status >= 0)
		status = pack_open_file(&p, symbols, "perf.symbols.tar.bz2", 0644, err);
	if (status >= 0)
		status = packing_finish(&p, err);
	packing_close(&p);
	return status;
}

static int write_all(struct cli *cli, const struct recording *recording, const struct build_id_rows *rows, struct error *err)
{
	char host[256] = "localhost", stamp[32], path[512];
	time_t now = time(NULL);
	struct tm local;
	struct fresh_file all, symbols;
	gethostname(host, sizeof host - 1);
	if (!localtime_r(&now, &local) || !strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local))
		return error_set(err, ERROR_SYSTEM, "cannot convert the current time");
	snprintf(path, sizeof path, "perf.all-%s-%s.tar.bz2", host, stamp);
	for (char *c = path; *c; c++)
		*c = *c == '/' ? '_' : *c;
	if (fresh_open_named(&all, path, archive_mode(recording), err) < 0)
		return -1;
	/* this file never gets a name, so that what is packed is what was written */
	int status = fresh_open(&symbols, all.folder, "perf.symbols.tar.bz2", 0600, err);
	if (status == 0)
		status = pack_all(cli, all.fd, symbols.fd, recording, rows, err);
	fresh_drop(&symbols);
	if (status == 0)
		return fresh_keep(&all, err);
	fresh_drop(&all);
	return status;
}

static int write_symbols_file(struct cli *cli, const struct recording *recording, const struct build_id_rows *rows, struct error *err)
{
	CLEANUP_STR struct str path = { 0 };
	struct fresh_file file;
	str_printf(&path, "%s.tar.bz2", recording->path);
	if (fresh_open_named(&file, str_text(&path), archive_mode(recording), err) < 0)
		return -1;
	if (write_symbols(cli, file.fd, rows, err) == 0)
		return fresh_keep(&file, err);
	fresh_drop(&file);
	return -1;
}

static int write_archive(struct cli *cli, const char *data, bool all, const struct build_id_rows *rows, struct error *err)
{
	struct recording recording;
	/* a stream was read to its end */
	int status = recording_open(&recording, data, all ? err : NULL);
	if (status == 0 || !all)
		status = all ? write_all(cli, &recording, rows, err) : write_symbols_file(cli, &recording, rows, err);
	if (recording.fd >= 0)
		close(recording.fd);
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
	if (build_id_rows_read(&rows, data, false, true, cli->budget, &err) < 0)
		cli_complain(cli, &err);
	int status = EXIT_ERROR;
	if (!has_ids(&rows))
		writer_printf(cli->out, "%s archive: no build-ids found\n", cli->program);
	else
		status = write_archive(cli, data, options->all, &rows, &err);
	int damaged = loss_summary_print(cli, data, &rows.losses, false);
	build_id_rows_fini(&rows);
	if (status < 0)
		return cli_complain(cli, &err);
	if (status == 0)
		writer_printf(cli->out, "Now please run:\n\n$ %s archive --unpack\n\nor unpack the tar manually wherever you need to run "
			"'%s report' on.\n", cli->program, cli->program);
	return status ? status : damaged;
}

const struct command command_archive = {
	.name = "archive",
	.summary = "pack the files that a recording names",
	.usage = archive_usage,
	.options = archive_table,
	.options_size = sizeof(struct archive_options),
	.run = archive_run,
};
