#include "base/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

static int file_of(char *path, const char *bytes, size_t len)
{
	int fd = mkstemp(path);
	EXPECT(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	unlink(path);
	return fd;
}

TEST("a string whose terminator the owner removes after the file was mapped ends behind the file")
{
	char path[] = "/tmp/mapping_test_XXXXXX";
	size_t size = 3 * (size_t)sysconf(_SC_PAGESIZE);
	char *bytes = memset(malloc(size), 'a', size);
	bytes[size - 1] = '\0';
	int fd = file_of(path, bytes, size);
	char *data = mapping_open(fd, size);
	EXPECT(data != NULL);
	EXPECT_INT(strlen(data), size - 1);
	EXPECT_INT(pwrite(fd, "a", 1, (off_t)size - 1), 1);
	EXPECT_INT(strlen(data), size);
	mapping_close(data, size);
	free(bytes);
	close(fd);
}

TEST("a record may claim its full size at the last byte of a mapped file: it reads zeros there")
{
	char path[] = "/tmp/mapping_test_XXXXXX";
	int fd = file_of(path, "0123456789", 10);
	char *data = mapping_open(fd, 10);
	EXPECT(memcmp(data, "0123456789", 10) == 0);
	/* the owner can also write behind the end of the file, in its last page */
	char *shared = mmap(NULL, 10, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), sum = 0;
	memset(shared, 'b', page);
	EXPECT_INT(strlen(data), page);
	for (size_t i = page; i < MAPPING_TAIL; i++)
		sum += data[i] != 0;
	EXPECT_INT(sum, 0);
	EXPECT_INT(data[9 + MAPPING_TAIL], 0);
	munmap(shared, 10);
	mapping_close(data, 10);
	close(fd);
}

TEST("a mapping is extended behind its last page, with another head, and the file stays as it is")
{
	char path[] = "/tmp/mapping_test_XXXXXX", file[4];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page + 3;
	char *bytes = memset(malloc(size), 'a', size);
	int fd = file_of(path, bytes, size);
	char *data = mapping_open(fd, size);
	EXPECT(data != NULL);
	EXPECT_INT(mapping_end(size), 2 * page);
	EXPECT_INT(mapping_end(page), page);
	EXPECT(mapping_extend(data, &size, bytes, page + 1, "xyz", 3) == NULL); /* the head is within the first page */
	EXPECT_INT(size, page + 3);
	data = mapping_extend(data, &size, "bcd", 3, "xyz", 3);
	EXPECT(data != NULL);
	EXPECT_INT(size, 2 * page + 3);
	EXPECT(memcmp(data, "bcda", 4) == 0);
	EXPECT(data[page + 2] == 'a' && data[page + 3] == '\0');
	EXPECT(memcmp(data + 2 * page, "xyz", 4) == 0);
	EXPECT_INT(data[size - 1 + MAPPING_TAIL], 0);
	EXPECT_INT(pread(fd, file, 4, 0), 4);
	EXPECT(memcmp(file, "aaaa", 4) == 0);
	mapping_close(data, size);
	free(bytes);
	close(fd);
}

TEST("a size that exceeds the address space is rejected")
{
	errno = 0;
	EXPECT(mapping_open(0, SIZE_MAX - 100) == NULL);
	EXPECT_INT(errno, EFBIG);
	EXPECT(mapping_open(-1, 4096) == NULL);
	mapping_close(NULL, 0);
}
