#include "record/write/buildid_cache.h"

#include <string.h>

#include "image/cache.h"
#include "image/search.h"
#include "os/file.h"

static const enum cached_kind kinds[] = {
	[HIT_FILE] = CACHED_FILE, [HIT_VDSO] = CACHED_VDSO, [HIT_KERNEL] = CACHED_KALLSYMS, [HIT_KERNEL_MODULE] = CACHED_FILE,
};

/* The file that a process has mapped, if its path is another file now. */
static bool add_mapped(int cache, const struct hit_module *hit, struct cached_file *file)
{
	CLEANUP_FD int fd = mapped_file_open(hit->pid, &hit->identity);
	file->open = fd >= 0;
	file->file = fd;
	return file->open && cache_add(cache, file, NULL) > 0;
}

size_t buildid_cache_add(const char *dir, const struct recording_facts *facts, struct debuginfod *debuginfod)
{
	size_t added = 0;
	CLEANUP_FD int cache = dir && facts->modules.count ? cache_open(dir, CACHE_MAKE, NULL) : -1;
	for (size_t i = 0; cache >= 0 && i < facts->modules.count; i++) {
		const struct hit_module *hit = &facts->modules.items[i];
		struct cached_file file = { .kind = kinds[hit->kind], .path = hit->path, .root = -1, .id_len = hit->build_id_len,
			.debuginfod = debuginfod };
		/* a vmlinux that the recording names */
		if (hit->kind == HIT_KERNEL && hit->path[0] == '/')
			file.kind = CACHED_FILE;
		/* a kernel module without a file */
		if (file.kind == CACHED_FILE && hit->path[0] != '/')
			continue;
		memcpy(file.id, hit->build_id, sizeof file.id);
		CLEANUP_FD int root = file.kind == CACHED_FILE ? process_root(hit->pid) : -1;
		file.root = root;
		int result = cache_add(cache, &file, NULL);
		added += result > 0 || (result < 0 && hit->kind == HIT_FILE && add_mapped(cache, hit, &file));
	}
	return added;
}
