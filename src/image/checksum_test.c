#include "image/checksum.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "os/file.h"
#include "unit.h"

static int temporary(void)
{
	char path[] = "/tmp/checksum_test_XXXXXX";
	int fd = mkstemp(path);
	EXPECT(fd >= 0);
	unlink(path);
	return fd;
}

TEST("the checksum of a file with holes is that of its bytes, and only its data are read")
{
	enum { SIZE = 3 << 20, HALF = SIZE / 2 };
	CLEANUP_FD int fd = temporary();
	uint8_t *bytes = calloc(1, SIZE);
	for (unsigned i = 0; i < 5000; i++)
		bytes[i] = bytes[HALF + i] = (uint8_t)(i * 7 + 1);
	EXPECT_INT(pwrite(fd, bytes, 5000, 0), 5000);
	EXPECT_INT(pwrite(fd, bytes + HALF, 5000, HALF), 5000);
	EXPECT_INT(ftruncate(fd, SIZE), 0);
	uint64_t left = SIZE;
	uint32_t sum = 0;
	EXPECT(file_checksum(fd, &left, &sum));
	EXPECT_INT(sum, crc32(0, bytes, SIZE));
	free(bytes);
}

TEST("a file of 300 GB without data takes no time, one with more data than the limit is refused")
{
	CLEANUP_FD int fd = temporary();
	uint64_t left = 1 << 20;
	uint32_t sum = 0;
	if (ftruncate(fd, 300ll << 30) != 0) {
		unit_skip("the file system of /tmp does not support files of 300 GB");
		return;
	}
	EXPECT(file_checksum(fd, &left, &sum));
	EXPECT_INT(left, 1 << 20);
	EXPECT(sum != 0);
	EXPECT_INT(pwrite(fd, "data", 4, 1ll << 30), 4);
	left = 3;
	EXPECT(!file_checksum(fd, &left, &sum));
	EXPECT_INT(left, 3);
}
