#include "image/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/debuginfod.h"
#include "image/file.h"
#include "image/search.h"
#include "os/file.h"

enum { PLACE_MAX = PATH_MAX + 256, COPY_CHUNK = 1 << 20, OPEN_FOLDERS = 16 };

/* Through a temporary name, so that nobody sees half a file. */
static bool copy_file(int in, const char *to, mode_t mode)
{
	char temporary[PLACE_MAX];
	if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", to) >= sizeof temporary)
		return false;
	CLEANUP_FD int out = in >= 0 ? mkstemp(temporary) : -1;
	if (out < 0)
		return false;
	CLEANUP_FREE char *chunk = memory_alloc(COPY_CHUNK);
	ssize_t n;
	bool good = true;
	while (good && (n = read(in, chunk, COPY_CHUNK)) != 0)
		good = (n < 0 && errno == EINTR) || (n > 0 && file_write(out, chunk, (size_t)n));
	good = good && fchmod(out, mode) == 0 && rename(temporary, to) == 0;
	if (!good)
		unlink(temporary);
	return good;
}

/* A link where both are on one file system, as long as the file is seen from our own root. */
static bool keep_file(int root, const char *from, const char *to, mode_t mode)
{
	if (root < 0 && (link(from, to) == 0 || errno == EEXIST))
		return true;
	CLEANUP_FD int in = rooted_open(root, from, NULL);
	return in >= 0 && copy_file(in, to, mode);
}

/* Only where this machine still has the one that is meant. */
static bool write_vdso(const struct cached_file *file, const char *to)
{
	struct image image = { 0 };
	CLEANUP_FD int out = -1;
	uint8_t id[ELF_BUILD_ID_MAX];
	bool good = false;
	if (image_open_vdso(&image, NULL) == 0 && build_id_equal(file->id, file->id_len, id, elf_build_id(&image.elf, id))) {
		out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		good = out >= 0 && file_write(out, image.elf.bytes.data, image.elf.bytes.len);
	}
	image_close(&image);
	return good;
}

static bool image_is_build(struct image *image, const struct cached_file *file)
{
	uint8_t id[ELF_BUILD_ID_MAX], len = elf_build_id(&image->elf, id);
	image_close(image);
	return build_id_equal(file->id, file->id_len, id, len);
}

static bool is_build(int root, const char *path, const struct cached_file *file)
{
	struct image image;
	return image_open(&image, root, path, NULL) == 0 && image_is_build(&image, file);
}

static bool keep_open_file(const struct cached_file *file, const char *to, mode_t mode)
{
	struct image image;
	return image_open_descriptor(&image, file->file, file->path, NULL) == 0 && image_is_build(&image, file) &&
	       lseek(file->file, 0, SEEK_SET) == 0 && copy_file(file->file, to, mode);
}

/* The debug file of this machine, or of a server. Kernel modules bring theirs along. */
static void add_debug(const struct cached_file *file, const char *real, const char *folder)
{
	char from[IMAGE_PATH_MAX], to[PLACE_MAX], hex[2 * ELF_BUILD_ID_MAX + 1];
	size_t len = strlen(real);
	build_id_hex(file->id, file->id_len, hex);
	if ((len > 3 && strcmp(real + len - 3, ".ko") == 0) || file->id_len < 2 ||
	    (size_t)snprintf(to, sizeof to, "%s/debug", folder) >= sizeof to)
		return;
	snprintf(from, sizeof from, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	if (is_build(file->root, from, file))
		keep_file(file->root, from, to, 0644);
	else if (file->debuginfod &&
		 debuginfod_fetch(DEBUGINFOD_DEBUGINFO, file->id, file->id_len, from, sizeof from, NULL) == 0 && is_build(-1, from, file))
		keep_file(-1, from, to, 0644);
}

static int add_content(const struct cached_file *file, const char *real, const char *folder, struct error *err)
{
	static const char *const leaves[] = { [CACHED_FILE] = "elf", [CACHED_VDSO] = "vdso", [CACHED_KALLSYMS] = "kallsyms" };
	char to[PLACE_MAX];
	bool good = false;
	if ((size_t)snprintf(to, sizeof to, "%s/%s", folder, leaves[file->kind]) >= sizeof to)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", real);
	if (file->kind == CACHED_KALLSYMS) {
		uint8_t id[ELF_BUILD_ID_MAX], len = image_kernel_build_id("/sys/kernel/notes", id);
		CLEANUP_FD int in = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
		good = build_id_equal(file->id, file->id_len, id, len) && copy_file(in, to, 0444);
	} else if (file->kind == CACHED_VDSO) {
		good = write_vdso(file, to);
	} else if (file->open) {
		good = keep_open_file(file, to, 0755);
		add_debug(file, real, folder);
	} else if (!is_build(file->root, real, file)) {
		/* a file of that name in another mount namespace was meant, or it was replaced */
		return error_set(err, ERROR_UNSUPPORTED, "%s is of another build-id", real);
	} else {
		good = keep_file(file->root, real, to, 0755);
		add_debug(file, real, folder);
	}
	return good ? 0 : error_system(err, "%s", to);
}

/* The link from the id to the folder is relative, so that the cache can be moved. */
static int add_link(const char *dir, const char *name, const char *hex, struct error *err)
{
	char folder[PLACE_MAX], link_path[PLACE_MAX], target[PLACE_MAX];
	if ((size_t)snprintf(folder, sizeof folder, "%s/.build-id/%.2s", dir, hex) >= sizeof folder ||
	    (size_t)snprintf(target, sizeof target, "../../%s/%s", name[0] == '/' ? name + 1 : name, hex) >= sizeof target ||
	    (size_t)snprintf(link_path, sizeof link_path, "%s/%s", folder, hex + 2) >= sizeof link_path)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", name);
	/* one that leads nowhere is of no use */
	if (access(link_path, F_OK) != 0)
		unlink(link_path);
	if (!folders_make(folder) || (symlink(target, link_path) != 0 && errno != EEXIST))
		return error_system(err, "%s", link_path);
	return 0;
}

/* The path without links, as seen from root. */
static bool path_resolve(int root, const char *path, char real[static PATH_MAX])
{
	if (root < 0)
		return realpath(path, real) != NULL;
	char link[64], own[PATH_MAX], base[PATH_MAX];
	CLEANUP_FD int fd = rooted_open(root, path, NULL);
	if (fd < 0)
		return false;
	/* as its own process sees it: what stands before that is where its root is */
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, own, sizeof own - 1);
	snprintf(link, sizeof link, "/proc/self/fd/%d", root);
	ssize_t m = readlink(link, base, sizeof base - 1);
	if (n < 0 || m < 0)
		return false;
	own[n] = base[m] = '\0';
	bool below = m > 1 && strncmp(own, base, (size_t)m) == 0 && own[m] == '/';
	strcpy(real, own[0] == '/' ? own + (below ? m : 0) : path);
	return true;
}

bool cache_has(const char *dir, const uint8_t *id, uint8_t len)
{
	char path[PLACE_MAX];
	return buildid_cache_path(dir, id, len, "", path, sizeof path) && access(path, F_OK) == 0;
}

int cache_add(const char *dir, const struct cached_file *file, struct error *err)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1], folder[PLACE_MAX], real[PATH_MAX];
	const char *name = file->path;
	build_id_hex(file->id, file->id_len, hex);
	if (file->id_len < 2)
		return error_set(err, ERROR_FORMAT, "%s has no build-id", name);
	if (file->open && strlen(name) >= sizeof real)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", name);
	if (file->kind == CACHED_FILE && file->open)
		strcpy(real, name);
	else if (file->kind == CACHED_FILE && !path_resolve(file->root, name, real))
		return error_system(err, "%s", name);
	if (file->kind == CACHED_FILE)
		name = real;
	if ((size_t)snprintf(folder, sizeof folder, "%s/%s/%s", dir, name[0] == '/' ? name + 1 : name, hex) >= sizeof folder)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", name);
	/* one build may be kept under several paths; the first has the link */
	if (access(folder, F_OK) == 0 && cache_has(dir, file->id, file->id_len))
		return 0;
	if (!folders_make(folder))
		return error_system(err, "%s", folder);
	if (add_content(file, name, folder, err) < 0) {
		rmdir(folder);
		return -1;
	}
	return add_link(dir, name, hex, err) < 0 ? -1 : 1;
}

static int remove_entry(const char *path, __attribute__((unused)) const struct stat *st, __attribute__((unused)) int kind,
	__attribute__((unused)) struct FTW *ftw)
{
	return remove(path);
}

int cache_remove(const char *dir, const uint8_t *id, uint8_t len, struct error *err)
{
	char link_path[PLACE_MAX], target[PATH_MAX], folder[2 * PLACE_MAX];
	if (len < 2 || !buildid_cache_path(dir, id, len, "", link_path, sizeof link_path))
		return error_set(err, ERROR_FORMAT, "no build-id");
	link_path[strlen(link_path) - 1] = '\0';
	ssize_t n = readlink(link_path, target, sizeof target - 1);
	if (n < 0)
		return error_system(err, "%s", link_path);
	target[n] = '\0';
	/* only what the cache itself would have made: ../../PATH/ID */
	if (strncmp(target, "../../", 6) != 0 || strstr(target + 6, ".."))
		return error_set(err, ERROR_FORMAT, "%s leads out of the cache", link_path);
	snprintf(folder, sizeof folder, "%s/%s", dir, target + 6);
	if (unlink(link_path) != 0)
		return error_system(err, "%s", link_path);
	if (nftw(folder, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
		return error_system(err, "%s", folder);
	return 0;
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

/* One link of .build-id/xx, if what it leads to is there. */
static void list_link(struct cache_list *list, const char *folder, const char *first, const char *rest)
{
	char path[PLACE_MAX], target[PATH_MAX], text[512];
	struct cache_entry entry = { 0 };
	if ((size_t)snprintf(text, sizeof text, "%s%s", first, rest) >= sizeof text ||
	    (size_t)snprintf(path, sizeof path, "%s/%s", folder, rest) >= sizeof path)
		return;
	entry.id_len = build_id_parse(text, entry.id);
	ssize_t n = readlink(path, target, sizeof target - 1);
	if (!entry.id_len || n < 0 || access(path, F_OK) != 0)
		return;
	target[n] = '\0';
	char *slash = strrchr(target, '/');
	if (strncmp(target, "../../", 6) != 0 || slash < target + 6)
		return;
	*slash = '\0';
	const char *name = target + 6;
	bool pseudo = *name == '[';
	char *kept = arena_string(&list->arena, target + (pseudo ? 6 : 5), strlen(target) - (pseudo ? 6 : 5));
	entry.path = kept;
	vec_push(&list->entries, entry);
}

int cache_list(const char *dir, struct cache_list *list, struct error *err)
{
	char top[PLACE_MAX], folder[2 * PLACE_MAX];
	CLEANUP_NAMES struct names firsts = { 0 };
	*list = (struct cache_list){ 0 };
	if ((size_t)snprintf(top, sizeof top, "%s/.build-id", dir) >= sizeof top)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", dir);
	if (folder_names(top, &firsts, NULL) < 0)
		return 0;
	for (size_t i = 0; i < firsts.list.count; i++) {
		CLEANUP_NAMES struct names rests = { 0 };
		snprintf(folder, sizeof folder, "%s/%s", top, firsts.list.items[i]);
		if (strlen(firsts.list.items[i]) != 2 || folder_names(folder, &rests, NULL) < 0)
			continue;
		for (size_t j = 0; j < rests.list.count; j++)
			list_link(list, folder, firsts.list.items[i], rests.list.items[j]);
	}
	list_sort(list);
	return 0;
}

int cache_list_builds(const char *dir, const char *path, struct cache_list *list, struct error *err)
{
	char folder[PLACE_MAX];
	CLEANUP_NAMES struct names names = { 0 };
	*list = (struct cache_list){ 0 };
	if ((size_t)snprintf(folder, sizeof folder, "%s/%s", dir, path[0] == '/' ? path + 1 : path) >= sizeof folder)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", path);
	if (folder_names(folder, &names, err) < 0)
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
