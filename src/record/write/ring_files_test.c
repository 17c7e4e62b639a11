#include "record/write/ring_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"
#include "unit.h"

static size_t file_holds(const char *folder, unsigned index, char *text, size_t size)
{
	char path[128];
	snprintf(path, sizeof path, "%s/data.%u", folder, index);
	FILE *file = fopen(path, "rb");
	size_t len = file ? fread(text, 1, size - 1, file) : 0;
	text[len] = '\0';
	if (file)
		fclose(file);
	unlink(path);
	return len;
}

TEST("the records of a ring are in the file of that ring, in order")
{
	char folder[] = "/tmp/ring-files-XXXXXX", text[64];
	struct ring_files *files;
	struct pool *pool = pool_new(3);
	EXPECT(mkdtemp(folder) != NULL);
	CLEANUP_FD int inside = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	EXPECT_INT(ring_files_open(&files, 4, inside, 0, pool, NULL), 0);
	EXPECT_INT(ring_files_write(files, NULL), 0);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned ring = 0; ring < 3; ring++)
			writer_putc(&ring_files_writers(files)[ring], (char)('a' + ring + 10 * round));
		EXPECT_INT(ring_files_write(files, NULL), 1);
	}
	EXPECT_INT(ring_files_totals(files).bytes, 6);
	EXPECT_INT(ring_files_end(files, NULL), 0);
	ring_files_free(files);
	static const char *const expected[] = { "ak", "bl", "cm", "" };
	for (unsigned ring = 0; ring < 4; ring++) {
		file_holds(folder, ring, text, sizeof text);
		EXPECT_STR(text, expected[ring]);
	}
	EXPECT_INT(rmdir(folder), 0);
	EXPECT(ring_files_open(&files, 1, inside, 0, pool, NULL) < 0);
	ring_files_free(files);
	pool_free(pool);
}
