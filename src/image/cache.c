#include "image/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/str.h"
#include "image/debuginfod.h"
#include "image/file.h"
#include "image/search.h"
#include "os/checked.h"
#include "os/file.h"
#include "os/place.h"

enum { ID_TEXT = 2 * ELF_BUILD_ID_MAX + 1, COPY_CHUNK = 1 << 20, FOLDER_MODE = 0755 };

#define CONTENT_MAX ((uint64_t)16 << 30) /* limit per file, without holes */
#define KALLSYMS_MAX ((size_t)512 << 20)
#define LINK_LEAD "../../"

int cache_open(const char *dir, enum cache_use use, struct error *err)
{
	if (!dir) {
		error_set(err, ERROR_UNSUPPORTED, "there is no build-id cache: HOME is not set");
		return error_hint(err, "Set HOME, or name a folder: --buildid-dir, or buildid.dir in the configuration.");
	}
	return use == CACHE_READ ? buildid_cache_root(dir, err) : private_folder_open(dir, use == CACHE_MAKE ? FOLDER_MAKE : 0, err);
}

/* Copies all parts that contain data; holes remain holes, so that a copy uses no more disk space than the file. */
static int copy_content(int in, int out, const char *name, struct error *err)
{
	struct stat st;
	uint64_t copied = 0;
	CLEANUP_FREE char *chunk = memory_alloc(COPY_CHUNK);
	if (fstat(in, &st) != 0)
		return error_system(err, "%s", name);
	for (off_t at = 0, end; st.st_size; at = end) {
		at = lseek(in, at, SEEK_DATA);
		if (at < 0 && errno == ENXIO)
			break;
		end = at < 0 ? -1 : lseek(in, at, SEEK_HOLE);
		if (end < 0)
			return error_system(err, "%s", name);
		copied += (uint64_t)(end - at);
		if (copied > CONTENT_MAX)
			return error_set(err, ERROR_LIMIT, "%s has more than %llu GiB", name, (unsigned long long)(CONTENT_MAX >> 30));
		while (at < end) {
			ssize_t n = pread(in, chunk, end - at < COPY_CHUNK ? (size_t)(end - at) : COPY_CHUNK, at);
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0 || (n > 0 && (lseek(out, at, SEEK_SET) < 0 || !file_write(out, chunk, (size_t)n))))
				return error_system(err, "%s", name);
			if (n == 0) /* the file was truncated meanwhile */
				end = at;
			at += n;
		}
	}
	return ftruncate(out, st.st_size) == 0 ? 0 : error_system(err, "%s", name);
}

static int copy_file(int cache, int in, const char *to, mode_t mode, struct error *err)
{
	struct fresh_file out;
	if (fresh_open(&out, cache, to, mode, err) < 0)
		return -1;
	if (copy_content(in, out.fd, to, err) == 0)
		return fresh_keep(&out, err);
	fresh_drop(&out);
	return -1;
}

static int write_bytes(int cache, struct span bytes, const char *to, mode_t mode, struct error *err)
{
	struct fresh_file out;
	if (fresh_open(&out, cache, to, mode, err) < 0)
		return -1;
	if (file_write(out.fd, bytes.data, bytes.len))
		return fresh_keep(&out, err);
	error_system(err, "%s", to);
	fresh_drop(&out);
	return -1;
}

/* Returns whether every user has search permission for the folders of the path. */
static bool all_may_reach(const char *real)
{
	char above[PATH_MAX];
	struct stat st;
	snprintf(above, sizeof above, "%s", real);
	for (char *slash; (slash = strrchr(above, '/')) && slash != above;) {
		*slash = '\0';
		if (stat(above, &st) != 0 || !(st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

/* The mode of the copy: users who may read the file may read its copy. real: its path without links as this process sees it; NULL: none. */
static mode_t copy_mode(const struct stat *st, const char *real)
{
	return (st->st_mode & (real && all_may_reach(real) ? 0755 : 0700)) | S_IRUSR;
}

/* A hard link avoids the copy if only root and the user can change the file, and retaining it gives no user additional rights. */
static bool may_link(int fd, const struct stat *st, mode_t mode)
{
	bool trusted = st->st_uid == 0 || st->st_uid == geteuid();
	return trusted && (st->st_mode & 07777) == mode && fgetxattr(fd, "security.capability", NULL, 0) < 0;
}

/* Stores the open file that was checked, not the file that is at its path now. */
static int keep_file(int cache, int fd, const char *real, const char *to, struct error *err)
{
	struct stat st;
	char self[64];
	if (fstat(fd, &st) != 0)
		return error_system(err, "%s", to);
	mode_t mode = copy_mode(&st, real);
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	if (may_link(fd, &st, mode) && linkat(AT_FDCWD, self, cache, to, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	return copy_file(cache, fd, to, mode, err);
}

/* Only if this machine's vdso has the recorded build-id. */
static int write_vdso(int folder, const struct cached_file *file, struct error *err)
{
	struct image image = { 0 };
	uint8_t id[ELF_BUILD_ID_MAX];
	int status = image_open_vdso(&image, err);
	if (status == 0 && !build_id_equal(file->id, file->id_len, id, elf_build_id(&image.elf, id)))
		status = error_set(err, ERROR_UNSUPPORTED, "[vdso] is of another build-id");
	if (status == 0)
		status = write_bytes(folder, image.elf.bytes, "vdso", 0644, err);
	image_close(&image);
	return status;
}

/* Kernel addresses are readable only by root, or users who could read them. */
static int write_kallsyms(int folder, const struct cached_file *file, struct error *err)
{
	uint8_t id[ELF_BUILD_ID_MAX], len = image_kernel_build_id("/sys/kernel/notes", id);
	struct str text = { 0 };
	if (!build_id_equal(file->id, file->id_len, id, len))
		return error_set(err, ERROR_UNSUPPORTED, "the running kernel is of another build-id");
	int status = file_read("/proc/kallsyms", &text, KALLSYMS_MAX, err);
	if (status == 0)
		status = write_bytes(folder, (struct span){ (const uint8_t *)text.text, text.len }, "kallsyms", S_IRUSR, err);
	str_fini(&text);
	return status;
}

static bool is_build(int fd, const char *path, const struct cached_file *file)
{
	struct image image;
	uint8_t id[ELF_BUILD_ID_MAX];
	if (image_open_descriptor(&image, fd, path, NULL, NULL) < 0)
		return false;
	uint8_t len = elf_build_id(&image.elf, id);
	image_close(&image);
	return build_id_equal(file->id, file->id_len, id, len);
}

static bool keep_debug(int folder, int root, const char *from, const struct cached_file *file)
{
	CLEANUP_FD int fd = rooted_open(root, from, NULL);
	return fd >= 0 && is_build(fd, from, file) && keep_file(folder, fd, root < 0 ? from : NULL, "debug", NULL) == 0;
}

/* Adds the debug file of this machine, or of a server. Kernel modules have theirs in the same package. */
static void add_debug(int folder, const struct cached_file *file, const char *name)
{
	char from[IMAGE_PATH_MAX], hex[ID_TEXT];
	size_t len = strlen(name);
	build_id_hex(file->id, file->id_len, hex);
	if (len > 3 && strcmp(name + len - 3, ".ko") == 0)
		return;
	snprintf(from, sizeof from, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	if (!keep_debug(folder, file->root, from, file) && file->debuginfod &&
	    debuginfod_fetch(file->debuginfod, DEBUGINFOD_DEBUGINFO, file->id, file->id_len, from, sizeof from, NULL) == 0)
		keep_debug(folder, -1, from, file);
}

/* fd: the file itself. real: as in keep_file. */
static int add_content(int folder, const struct cached_file *file, int fd, const char *name, struct error *err)
{
	if (file->kind == CACHED_KALLSYMS)
		return write_kallsyms(folder, file, err);
	if (file->kind == CACHED_VDSO)
		return write_vdso(folder, file, err);
	/* the path meant a file of another mount namespace, or the file was replaced */
	if (!is_build(fd, name, file))
		return error_set(err, ERROR_UNSUPPORTED, "%s is of another build-id", name);
	/* for a file seen from another root, or through a process, the permissions of its folders are unknown */
	if (keep_file(folder, fd, file->open || file->root >= 0 ? NULL : name, "elf", err) < 0)
		return -1;
	add_debug(folder, file, name);
	return 0;
}

/* "xx/yyyy…" below .build-id. */
static void link_name(const char *hex, char path[static ID_TEXT + 16])
{
	snprintf(path, ID_TEXT + 16, ".build-id/%.2s/%s", hex, hex + 2);
}

/* Stores PATH/ID, the target of an id's link; rejects other targets. */
static bool link_follow(int cache, const char *hex, char target[static PATH_MAX], struct error *err)
{
	char name[ID_TEXT + 16], text[PATH_MAX];
	link_name(hex, name);
	if (checked_link_read(cache, name, text, sizeof text, err) < 0)
		return false;
	size_t lead = strlen(LINK_LEAD);
	const char *slash = strrchr(text, '/');
	if (strncmp(text, LINK_LEAD, lead) != 0 || !checked_path(text + lead, NULL) || slash < text + lead || strcmp(slash + 1, hex) != 0) {
		error_set(err, ERROR_FORMAT, "%s leads out of the cache", name);
		return false;
	}
	strcpy(target, text + lead);
	return true;
}

static bool exists(int cache, const char *path)
{
	CLEANUP_FD int fd = checked_open(cache, path, O_PATH, NULL);
	return fd >= 0;
}

/* The link from the id to the folder is relative, so that the cache can be moved. */
static int add_link(int cache, const char *folder, const char *hex, struct error *err)
{
	char above[16], name[ID_TEXT + 16], target[PATH_MAX];
	snprintf(above, sizeof above, ".build-id/%.2s", hex);
	CLEANUP_FD int made = checked_make(cache, above, FOLDER_MODE, err);
	if (made < 0)
		return -1;
	/* one build may be stored under several paths; the first has the link, unless that is dangling */
	if (link_follow(cache, hex, target, NULL) && exists(cache, target))
		return 0;
	link_name(hex, name);
	if ((size_t)snprintf(target, sizeof target, LINK_LEAD "%s", folder) >= sizeof target)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", folder);
	return checked_link(cache, name, target, err);
}

/* The path without links, as its own process sees it. */
static bool path_resolve(int root, int fd, const char *path, char real[static PATH_MAX])
{
	char link[64], own[PATH_MAX], base[PATH_MAX];
	if (root < 0)
		return realpath(path, real) != NULL;
	/* the prefix of the result is the path of its root */
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, own, sizeof own - 1);
	snprintf(link, sizeof link, "/proc/self/fd/%d", root);
	ssize_t m = readlink(link, base, sizeof base - 1);
	if (n < 0 || m < 0)
		return false;
	own[n] = base[m] = '\0';
	bool below = m > 1 && strncmp(own, base, (size_t)m) == 0 && own[m] == '/';
	snprintf(real, PATH_MAX, "%s", own[0] == '/' ? own + (below ? m : 0) : path);
	return true;
}

bool cache_find(int cache, const uint8_t *id, uint8_t len, char folder[static PATH_MAX], struct error *err)
{
	char hex[ID_TEXT];
	build_id_hex(id, len, hex);
	return len > 1 && link_follow(cache, hex, folder, err) && exists(cache, folder);
}

bool cache_has(int cache, const uint8_t *id, uint8_t len)
{
	char folder[PATH_MAX];
	return cache_find(cache, id, len, folder, NULL);
}

/* Composes PATH/ID. Only perfuse's own names have the form "[…]", and only its links are in .build-id. */
static int folder_name(const struct cached_file *file, const char *name, char folder[static PATH_MAX], struct error *err)
{
	static const char *const fixed[] = { [CACHED_VDSO] = "[vdso]", [CACHED_KALLSYMS] = "[kernel.kallsyms]" };
	char hex[ID_TEXT];
	build_id_hex(file->id, file->id_len, hex);
	const char *path = file->kind == CACHED_FILE ? name + (*name == '/') : fixed[file->kind];
	size_t first = strcspn(path, "/");
	if (file->kind == CACHED_FILE && (*path == '[' || (first == 9 && strncmp(path, ".build-id", first) == 0)))
		return error_set(err, ERROR_FORMAT, "%s: no file in the cache has such a name", name);
	if ((size_t)snprintf(folder, PATH_MAX, "%s/%s", path, hex) >= PATH_MAX)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", name);
	return checked_path(folder, err) ? 0 : -1;
}

static int add_entry(int cache, const struct cached_file *file, int fd, const char *name, struct error *err)
{
	char folder[PATH_MAX], hex[ID_TEXT];
	if (folder_name(file, name, folder, err) < 0)
		return -1;
	if (exists(cache, folder) && cache_has(cache, file->id, file->id_len))
		return 0;
	CLEANUP_FD int made = checked_make(cache, folder, FOLDER_MODE, err);
	if (made < 0)
		return -1;
	if (add_content(made, file, fd, name, err) < 0) {
		checked_remove(cache, folder, NULL);
		return -1;
	}
	build_id_hex(file->id, file->id_len, hex);
	return add_link(cache, folder, hex, err) < 0 ? -1 : 1;
}

int cache_add(int cache, const struct cached_file *file, struct error *err)
{
	char real[PATH_MAX];
	if (file->id_len < 2)
		return error_set(err, ERROR_FORMAT, "%s has no build-id", file->path);
	if (file->kind != CACHED_FILE)
		return add_entry(cache, file, -1, file->path, err);
	if (file->open)
		return add_entry(cache, file, file->file, file->path, err);
	CLEANUP_FD int fd = rooted_open(file->root, file->path, err);
	if (fd < 0)
		return -1;
	if (!path_resolve(file->root, fd, file->path, real))
		return error_system(err, "%s", file->path);
	return add_entry(cache, file, fd, real, err);
}

int cache_remove(int cache, const uint8_t *id, uint8_t len, struct error *err)
{
	char hex[ID_TEXT], name[ID_TEXT + 16], target[PATH_MAX];
	build_id_hex(id, len, hex);
	if (len < 2)
		return error_set(err, ERROR_FORMAT, "no build-id");
	if (!link_follow(cache, hex, target, err))
		return -1;
	link_name(hex, name);
	if (checked_remove(cache, name, err) < 0)
		return -1;
	return checked_remove(cache, target, err);
}

uint8_t build_id_parse(const char *text, uint8_t id[static ELF_BUILD_ID_MAX])
{
	size_t digits = strspn(text, "0123456789abcdef");
	if (text[digits] || digits % 2 || digits > 2 * ELF_BUILD_ID_MAX)
		return 0;
	for (size_t i = 0; i < digits / 2; i++) {
		char pair[3] = { text[2 * i], text[2 * i + 1], '\0' };
		id[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return (uint8_t)(digits / 2);
}

static int entry_compare(const void *a, const void *b)
{
	const struct cache_entry *x = a, *y = b;
	int order = memcmp(x->id, y->id, ELF_BUILD_ID_MAX);
	return order ? order : x->id_len - y->id_len;
}

static void list_sort(struct cache_list *list)
{
	if (list->entries.count)
		qsort(list->entries.items, list->entries.count, sizeof *list->entries.items, entry_compare);
}

/* Whether the target of a link of .build-id/xx has the file, not empty (perf list makes many empty ones). It may lead out of the cache
 * here, as nothing is read. */
static bool has_file(int cache, const char *first, const char *rest, const char *file)
{
	char path[PATH_MAX];
	struct stat st;
	return (size_t)snprintf(path, sizeof path, ".build-id/%s/%s/%s", first, rest, file) < sizeof path &&
	       fstatat(cache, path, &st, 0) == 0 && st.st_size > 0;
}

/* Adds one link of .build-id/xx to the list, if its target exists. */
static void list_link(int cache, struct cache_list *list, const char *first, const char *rest)
{
	char target[PATH_MAX], hex[ID_TEXT];
	struct cache_entry entry = { 0 };
	if ((size_t)snprintf(hex, sizeof hex, "%s%s", first, rest) >= sizeof hex)
		return;
	entry.id_len = build_id_parse(hex, entry.id);
	if (entry.id_len < 2 || !link_follow(cache, hex, target, NULL) || !exists(cache, target))
		return;
	*strrchr(target, '/') = '\0';
	struct str path = { 0 };
	str_printf(&path, "%s%s", *target == '[' ? "" : "/", target);
	entry.path = arena_string(&list->arena, path.text, path.len);
	str_fini(&path);
	vec_push(&list->entries, entry);
}

int cache_list(int cache, struct cache_list *list, struct error *err)
{
	return cache_list_having(cache, NULL, list, err);
}

int cache_list_having(int cache, const char *file, struct cache_list *list, struct error *err)
{
	struct error absent = { 0 };
	CLEANUP_NAMES struct names firsts = { 0 };
	*list = (struct cache_list){ 0 };
	if (cache < 0)
		return 0;
	if (checked_names(cache, ".build-id", &firsts, &absent) < 0) {
		if (absent.sys != ENOENT && err)
			*err = absent;
		return absent.sys == ENOENT ? 0 : -1;
	}
	for (size_t i = 0; i < firsts.list.count; i++) {
		char folder[16];
		CLEANUP_NAMES struct names rests = { 0 };
		if (strlen(firsts.list.items[i]) != 2)
			continue;
		snprintf(folder, sizeof folder, ".build-id/%.2s", firsts.list.items[i]);
		if (checked_names(cache, folder, &rests, NULL) < 0)
			continue;
		for (size_t j = 0; j < rests.list.count; j++)
			if (!file || has_file(cache, firsts.list.items[i], rests.list.items[j], file))
				list_link(cache, list, firsts.list.items[i], rests.list.items[j]);
	}
	list_sort(list);
	return 0;
}

int cache_list_builds(int cache, const char *path, struct cache_list *list, struct error *err)
{
	CLEANUP_NAMES struct names names = { 0 };
	*list = (struct cache_list){ 0 };
	if (checked_names(cache, path[0] == '/' ? path + 1 : path, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.list.count; i++) {
		struct cache_entry entry = { .path = arena_string(&list->arena, path, strlen(path)) };
		entry.id_len = build_id_parse(names.list.items[i], entry.id);
		if (entry.id_len > 1)
			vec_push(&list->entries, entry);
	}
	list_sort(list);
	return 0;
}

void cache_list_fini(struct cache_list *list)
{
	vec_fini(&list->entries);
	arena_fini(&list->arena);
}
