#include "record/buildid_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/search.h"
#include "os/file.h"

enum { PLACE_MAX = PATH_MAX + 256, COPY_CHUNK = 1 << 20 };

static bool make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
		*slash = '/';
		if (!made)
			return false;
	}
	return mkdir(path, 0755) == 0 || errno == EEXIST;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		size -= (size_t)n;
	}
	return true;
}

/* Through a temporary name, so that nobody sees half a file. */
static bool copy_file(const char *from, const char *to, mode_t mode)
{
	char temporary[PLACE_MAX];
	if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", to) >= sizeof temporary)
		return false;
	CLEANUP_FD int in = open(from, O_RDONLY | O_CLOEXEC);
	CLEANUP_FD int out = in >= 0 ? mkstemp(temporary) : -1;
	if (out < 0)
		return false;
	CLEANUP_FREE char *chunk = memory_alloc(COPY_CHUNK);
	ssize_t n;
	bool good = true;
	while (good && (n = read(in, chunk, COPY_CHUNK)) != 0)
		good = (n < 0 && errno == EINTR) || (n > 0 && write_all(out, chunk, (size_t)n));
	good = good && fchmod(out, mode) == 0 && rename(temporary, to) == 0;
	if (!good)
		unlink(temporary);
	return good;
}

static bool write_vdso(const char *to)
{
	struct image image = { 0 };
	CLEANUP_FD int out = -1;
	bool good = false;
	if (image_open_vdso(&image, NULL) == 0) {
		out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		good = out >= 0 && write_all(out, (const char *)image.elf.bytes.data, image.elf.bytes.len);
	}
	image_close(&image);
	return good;
}

/* Where files of another mount namespace were meant, the one here has another build-id: it is not the module. */
static bool same_file(const char *path, const struct hit_module *hit)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	uint8_t length = image_build_id_of_path(path, id);
	return build_id_equal(hit->build_id, hit->build_id_len, id, length);
}

static bool add_content(const struct hit_module *hit, const char *real, const char *folder)
{
	char to[PLACE_MAX];
	const char *leaf = hit->kind == HIT_KERNEL ? "kallsyms" : hit->kind == HIT_VDSO ? "vdso" : "elf";
	if ((size_t)snprintf(to, sizeof to, "%s/%s", folder, leaf) >= sizeof to)
		return false;
	if (hit->kind == HIT_KERNEL)
		return copy_file("/proc/kallsyms", to, 0444);
	if (hit->kind == HIT_VDSO)
		return write_vdso(to);
	return same_file(real, hit) && (link(real, to) == 0 || errno == EEXIST || copy_file(real, to, 0755));
}

/* The link from the id to the folder is relative, so that the cache can be moved. */
static bool add_link(const char *dir, const char *name, const char *hex)
{
	char folder[PLACE_MAX], link_path[PLACE_MAX], target[PLACE_MAX];
	if ((size_t)snprintf(folder, sizeof folder, "%s/.build-id/%.2s", dir, hex) >= sizeof folder ||
	    (size_t)snprintf(target, sizeof target, "../../%s/%s", name[0] == '/' ? name + 1 : name, hex) >= sizeof target)
		return false;
	if (!make_folders(folder) || (size_t)snprintf(link_path, sizeof link_path, "%s/%s", folder, hex + 2) >= sizeof link_path)
		return false;
	return symlink(target, link_path) == 0 || errno == EEXIST;
}

static bool add_module(const char *dir, const struct hit_module *hit)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1], path[PLACE_MAX], real[PATH_MAX];
	build_id_hex(hit->build_id, hit->build_id_len, hex);
	if (!buildid_cache_path(dir, hit->build_id, hit->build_id_len, "", path, sizeof path) || access(path, F_OK) == 0)
		return false;
	const char *name = hit->path;
	if (hit->path[0] == '/' && !(name = realpath(hit->path, real)))
		return false;
	if ((hit->path[0] != '/' && hit->kind != HIT_KERNEL && hit->kind != HIT_VDSO) ||
	    (size_t)snprintf(path, sizeof path, "%s/%s/%s", dir, name[0] == '/' ? name + 1 : name, hex) >= sizeof path)
		return false;
	return make_folders(path) && add_content(hit, name, path) && add_link(dir, name, hex);
}

size_t buildid_cache_add(const char *dir, const struct recording_facts *facts)
{
	size_t added = 0;
	for (size_t i = 0; dir && i < facts->modules.count; i++)
		added += add_module(dir, &facts->modules.items[i]);
	return added;
}
