#include "base/mapping.h"

#include <errno.h>
#include <stdint.h>
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

void mapping_close(void *data, size_t size)
{
	if (data)
		munmap(data, whole_pages(size) + MAPPING_TAIL);
}
