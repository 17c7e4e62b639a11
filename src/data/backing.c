/* The bytes of a regular file. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mapping.h"
#include "data/source_internal.h"

/* Files up to this size are read, not mapped: this is cheap, and truncating them later is harmless. */
#define READ_LIMIT_BYTES ((uint64_t)4 << 20)

static int backing_read(struct backing *backing, int fd, const char *path, struct error *err)
{
	uint64_t at = 0;
	backing->bytes = memory_alloc(backing->size + 1);
	while (at < backing->size) {
		ssize_t n = pread(fd, backing->bytes + at, backing->size - at, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(err, "%s: reading at offset %llu", path, (unsigned long long)at);
		if (n == 0)
			break;
		at += (uint64_t)n;
	}
	backing->size = at;
	return 0;
}

int backing_load(struct backing *backing, int fd, uint64_t size, const char *path, struct error *err)
{
	*backing = (struct backing){ .size = size };
	if (size <= READ_LIMIT_BYTES) {
		int result = backing_read(backing, fd, path, err);
		if (result < 0)
			backing_close(backing);
		return result;
	}
	if (size > SIZE_MAX)
		return error_set(err, ERROR_LIMIT, "%s: %llu bytes are too many for this machine", path, (unsigned long long)size);
	void *bytes = mapping_open(fd, size);
	if (!bytes)
		return error_system(err, "%s: mapping %llu bytes", path, (unsigned long long)size);
	madvise(bytes, size, MADV_SEQUENTIAL);
	backing->bytes = bytes;
	backing->mapped = true;
	return 0;
}

int backing_make_writable(struct backing *backing, const char *path, struct error *err)
{
	if (backing->mapped && mprotect(backing->bytes, backing->size, PROT_READ | PROT_WRITE) != 0)
		return error_system(err, "%s: making %llu bytes writable in memory", path, (unsigned long long)backing->size);
	return 0;
}

void backing_map(const struct backing *backing, uint64_t from, uint64_t to)
{
	static const uint64_t page = 64 << 10; /* the largest page size */
	from &= ~(page - 1);
	if (backing->mapped && from < to && to <= backing->size)
		madvise(backing->bytes + from, to - from, MADV_POPULATE_READ);
}

void backing_drop(const struct backing *backing, uint64_t from, uint64_t to)
{
	static const uint64_t page = 64 << 10; /* the largest page size */
	if (from < to)
		backing_drop_from(backing, from + page - 1, to);
}

void backing_drop_from(const struct backing *backing, uint64_t from, uint64_t to)
{
	static const uint64_t page = 64 << 10;
	from &= ~(page - 1);
	to &= ~(page - 1);
	if (backing->mapped && from < to)
		madvise(backing->bytes + from, to - from, MADV_DONTNEED);
}

void backing_read_places(const struct backing *backing)
{
	if (backing->mapped)
		madvise(backing->bytes, backing->size, MADV_RANDOM);
}

void backing_announce(const struct backing *backing, uint64_t from, uint64_t to)
{
	static const uint64_t page = 64 << 10; /* the largest page size */
	from &= ~(page - 1);
	if (backing->mapped && from < to && to <= backing->size)
		madvise(backing->bytes + from, to - from, MADV_WILLNEED);
}

void backing_close(struct backing *backing)
{
	if (backing->mapped)
		mapping_close(backing->bytes, backing->size);
	else if (!backing->lent)
		free(backing->bytes);
	*backing = (struct backing){ 0 };
}
