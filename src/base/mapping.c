#include "base/mapping.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t whole_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return (size + page - 1) & ~(page - 1);
}

void *mapping_open(int fd, size_t size)
{
	if (size > PTRDIFF_MAX - 2 * MAPPING_TAIL) {
		errno = EFBIG;
		return NULL;
	}
	/* maps zeros first: they remain behind the end of the file */
	int flags = MAP_PRIVATE | MAP_NORESERVE;
	char *data = mmap(NULL, whole_pages(size) + MAPPING_TAIL, PROT_READ, flags | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return NULL;
	if (mmap(data, size, PROT_READ, flags | MAP_FIXED, fd, 0) == MAP_FAILED) {
		int failed = errno;
		munmap(data, whole_pages(size) + MAPPING_TAIL);
		errno = failed;
		return NULL;
	}
	return data;
}

size_t mapping_end(size_t size)
{
	return whole_pages(size);
}

void *mapping_extend(void *data, size_t *size, const void *head, size_t head_size, const void *added, size_t added_size)
{
	size_t end = whole_pages(*size), whole = end + added_size, page = whole_pages(1);
	if (!end || head_size > page || whole < end || whole > PTRDIFF_MAX - 2 * MAPPING_TAIL) {
		errno = EFBIG;
		return NULL;
	}
	size_t room = whole_pages(whole) + MAPPING_TAIL;
	char *moved = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_ANONYMOUS, -1, 0);
	if (moved == MAP_FAILED)
		return NULL;
	if (mremap(data, end, end, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == MAP_FAILED) {
		int failed = errno;
		munmap(moved, room);
		errno = failed;
		return NULL;
	}
	munmap((char *)data + end, MAPPING_TAIL);
	memcpy(moved + end, added, added_size);
	/* without the right to write, what replaces the head is not there, and the mapping is not of the expected format */
	if (mprotect(moved, page, PROT_READ | PROT_WRITE) == 0)
		memcpy(moved, head, head_size);
	mprotect(moved, room, PROT_READ);
	*size = whole;
	return moved;
}

void mapping_close(void *data, size_t size)
{
	if (data)
		munmap(data, whole_pages(size) + MAPPING_TAIL);
}
