#include "base/reader.h"

#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

TEST("a reader returns the available bytes: fewer at the end, none beyond it")
{
	char path[] = "/tmp/reader_test_XXXXXX", buffer[16];
	int fd = mkstemp(path);
	EXPECT(fd >= 0 && write(fd, "0123456789", 10) == 10);
	unlink(path);
	struct span span = { (const uint8_t *)"0123456789", 10 };
	struct reader readers[] = { reader_of_fd(fd, 10), reader_of_span(&span) };
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_INT(readers[i].size, 10);
		EXPECT_INT(reader_at(&readers[i], buffer, 4, 3), 4);
		EXPECT(memcmp(buffer, "3456", 4) == 0);
		EXPECT_INT(reader_at(&readers[i], buffer, 16, 8), 2);
		EXPECT_INT(reader_at(&readers[i], buffer, 16, 10), 0);
		EXPECT_INT(reader_at(&readers[i], buffer, 16, 1ull << 40), 0);
		reader_close(&readers[i]);
	}
	struct reader closed = reader_of_fd(-1, 0);
	EXPECT(reader_at(&closed, buffer, 1, 0) < 0);
}
