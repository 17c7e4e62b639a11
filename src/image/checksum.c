#include "image/checksum.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"

enum { BUFFER_BYTES = 1 << 20 };

/* The operator for n zeros: combining that for n/2 zeros with itself doubles the number. */
static uLong of_zeros(uint64_t n)
{
	uLong sum = crc32(0, NULL, 0), power = crc32(sum, (const Bytef *)"", 1);
	for (z_off_t len = 1; n; n >>= 1, len *= 2) {
		if (n & 1)
			sum = crc32_combine(sum, power, len);
		if (n > 1)
			power = crc32_combine(power, power, len);
	}
	return sum;
}

/* Finds the begin and end of the next data; a file system without holes has only data. */
static bool next_data(int fd, uint64_t at, uint64_t size, uint64_t *from, uint64_t *to)
{
	off_t data = lseek(fd, (off_t)at, SEEK_DATA);
	if (data < 0 && errno == ENXIO) {
		*from = *to = size;
		return true;
	}
	off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
	*from = data < 0 ? at : (uint64_t)data;
	*to = hole < 0 || (uint64_t)hole > size ? size : (uint64_t)hole;
	*from = *from < size ? *from : size;
	return *from >= at && *to >= *from;
}

static bool add_data(int fd, uint64_t from, uint64_t to, Bytef *buffer, uLong *sum)
{
	while (from < to) {
		ssize_t n = pread(fd, buffer, to - from < BUFFER_BYTES ? (size_t)(to - from) : BUFFER_BYTES, (off_t)from);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		*sum = crc32(*sum, buffer, (uInt)n);
		from += (uint64_t)n;
	}
	return true;
}

bool file_checksum(int fd, uint64_t *left, uint32_t *checksum)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || st.st_size < 0)
		return false;
	CLEANUP_FREE Bytef *buffer = memory_alloc(BUFFER_BYTES);
	uLong sum = crc32(0, NULL, 0);
	uint64_t size = (uint64_t)st.st_size, at = 0, from, to;
	while (at < size) {
		if (!next_data(fd, at, size, &from, &to) || to - from > *left)
			return false;
		if (from > at)
			sum = crc32_combine(sum, of_zeros(from - at), (z_off_t)(from - at));
		if (!add_data(fd, from, to, buffer, &sum))
			return false;
		*left -= to - from;
		at = to;
	}
	*checksum = (uint32_t)sum;
	return true;
}
