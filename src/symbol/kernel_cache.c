#include "symbol/kernel_cache.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "image/file.h"
#include "os/file.h"
#include "os/private_file.h"

enum { CHUNK = 64 << 10, SIZE_LIMIT = 256 << 20 };

static bool sum_holds(int fd, size_t size)
{
	CLEANUP_FREE char *chunk = memory_alloc(CHUNK);
	struct packed_sum sum = { 0 };
	uint64_t told;
	size_t end = size - PACKED_SUM_SIZE;
	for (size_t at = 0, len; at < end; at += len) {
		len = end - at < CHUNK ? end - at : CHUNK;
		if (pread(fd, chunk, len, (off_t)at) != (ssize_t)len)
			return false;
		packed_sum_add(&sum, chunk, len);
	}
	return pread(fd, &told, sizeof told, (off_t)end) == (ssize_t)sizeof told && told == packed_sum_end(&sum);
}

static off_t place_of(const struct kernel_cache *cache, const void *data)
{
	return (off_t)((const uint8_t *)data - cache->bytes.data);
}

/* Reads bytes of the file to the address at which `bytes` expects them. */
static bool read_part(const struct kernel_cache *cache, const void *part, size_t len)
{
	return pread(cache->fd, (void *)part, len, place_of(cache, part)) == (ssize_t)len;
}

/* Reads the tables that look-ups search; kernel_cache_get reads the rest on demand. */
static bool read_tables(const struct kernel_cache *cache)
{
	const struct packed_list *list = &cache->list;
	if (!read_part(cache, list->kernel.starts, (size_t)list->kernel.count * PACKED_START) ||
	    !read_part(cache, list->in_modules.starts, (size_t)list->in_modules.count * PACKED_START) ||
	    !read_part(cache, list->modules, (size_t)list->module_count * PACKED_MODULE))
		return false;
	struct span names = packed_module_names(list);
	return read_part(cache, names.data, names.len);
}

int kernel_cache_open(const char *base, uint64_t state, struct kernel_cache *cache, struct error *err)
{
	size_t size = 0;
	*cache = (struct kernel_cache){ 0 };
	CLEANUP_FD int folder = private_folder(base, false, err);
	int fd = folder < 0 ? -1 : private_file_open(folder, KERNEL_CACHE_NAME, &size, err);
	if (fd < 0)
		return -1;
	if (size < PACKED_HEADER || size > SIZE_LIMIT) {
		close(fd);
		return error_set(err, ERROR_FORMAT, "%s has %zu bytes", KERNEL_CACHE_NAME, size);
	}
	/* pages that are never read use no memory */
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (data == MAP_FAILED) {
		close(fd);
		return error_system(err, "%s: %zu bytes", KERNEL_CACHE_NAME, size);
	}
	madvise(data, size, MADV_NOHUGEPAGE);
	*cache = (struct kernel_cache){ .bytes = { data, size }, .fd = fd };
	bool good = read_part(cache, cache->bytes.data, PACKED_HEADER) && packed_open(&cache->list, cache->bytes, state, NULL) == 0 &&
		read_tables(cache) && sum_holds(fd, size);
	if (good)
		return 0;
	kernel_cache_close(cache);
	return error_set(err, ERROR_FORMAT, "%s is damaged, or of another state", KERNEL_CACHE_NAME);
}

void kernel_cache_close(struct kernel_cache *cache)
{
	if (cache->bytes.len) {
		close(cache->fd);
		munmap((void *)cache->bytes.data, cache->bytes.len);
	}
	*cache = (struct kernel_cache){ 0 };
}

void kernel_cache_get(const struct kernel_cache *cache, const struct packed_symbols *symbols, uint32_t id, struct symbol *symbol,
	struct arena *names)
{
	uint8_t rest[PACKED_REST];
	char name[KALLSYMS_NAME_MAX + 1];
	*symbol = (struct symbol){ .name = "" };
	/* the file may have been truncated since: then the symbol does not exist */
	if (pread(cache->fd, rest, sizeof rest, place_of(cache, symbols->rest + (size_t)(id - 1) * PACKED_REST)) != (ssize_t)sizeof rest)
		return;
	packed_describe(symbols, id, rest, symbol);
	off_t at = place_of(cache, symbol->name);
	bool inside = at > 0 && (size_t)at < cache->bytes.len;
	ssize_t n = inside ? pread(cache->fd, name, sizeof name - 1, at) : 0;
	symbol->name = arena_string(names, name, n > 0 ? strnlen(name, (size_t)n) : 0);
}

int kernel_cache_save(const char *base, uint64_t state, const struct kallsyms *k, struct error *err)
{
	CLEANUP_FREE char *bytes = NULL;
	size_t len;
	CLEANUP_FD int folder = private_folder(base, true, err);
	if (folder < 0 || packed_make(k, state, &bytes, &len, err) < 0)
		return -1;
	if (len > SIZE_LIMIT)
		return error_set(err, ERROR_LIMIT, "%s would have %zu bytes", KERNEL_CACHE_NAME, len);
	return private_file_write(folder, KERNEL_CACHE_NAME, bytes, len, err);
}
