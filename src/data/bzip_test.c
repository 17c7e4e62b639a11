#include "data/bzip.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/pool.h"
#include "unit.h"

static char *noise(size_t size)
{
	char *bytes = malloc(size);
	uint32_t state = 1;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)((state = state * 1664525 + 1013904223) >> (i / 100000 % 2 ? 24 : 30));
	return bytes;
}

TEST("data compressed by several threads is decompressed unchanged, from empty to many blocks")
{
	static const size_t sizes[] = { 0, 1, 899979, 899980, 899981, 5000000 };
	struct pool *pool = pool_new(2);
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		FILE *file = tmpfile();
		char *bytes = noise(sizes[i]), *back = malloc(sizes[i] + 1);
		struct bzip_writer writer;
		struct bzip_reader *reader;
		bzip_writer_open(&writer, fileno(file), pool);
		for (size_t at = 0; at < sizes[i]; at += 70001)
			EXPECT_INT(bzip_write(&writer, bytes + at, sizes[i] - at < 70001 ? sizes[i] - at : 70001, NULL), 0);
		EXPECT_INT(bzip_writer_finish(&writer, NULL), 0);
		bzip_writer_close(&writer);
		lseek(fileno(file), 0, SEEK_SET);
		EXPECT_INT(bzip_reader_open(&reader, fileno(file), NULL), 0);
		size_t got = 0;
		ssize_t n;
		while ((n = bzip_read(reader, back + got, sizes[i] + 1 - got, NULL)) > 0)
			got += (size_t)n;
		EXPECT_INT(got, sizes[i]);
		EXPECT(memcmp(bytes, back, got) == 0);
		bzip_reader_close(reader);
		fclose(file);
		free(bytes);
		free(back);
	}
	pool_free(pool);
}

TEST("a truncated or damaged compressed file is an error")
{
	struct pool *pool = pool_new(1);
	FILE *file = tmpfile();
	char *bytes = noise(200000);
	struct bzip_writer writer;
	bzip_writer_open(&writer, fileno(file), pool);
	EXPECT_INT(bzip_write(&writer, bytes, 200000, NULL), 0);
	EXPECT_INT(bzip_writer_finish(&writer, NULL), 0);
	bzip_writer_close(&writer);
	off_t size = lseek(fileno(file), 0, SEEK_END);
	for (unsigned i = 0; i < 2; i++) {
		struct bzip_reader *reader;
		ssize_t n;
		char back[4096];
		if (i)
			EXPECT_INT(ftruncate(fileno(file), size / 2), 0);
		else
			EXPECT_INT(pwrite(fileno(file), "damage", 6, size / 3), 6);
		lseek(fileno(file), 0, SEEK_SET);
		EXPECT_INT(bzip_reader_open(&reader, fileno(file), NULL), 0);
		while ((n = bzip_read(reader, back, sizeof back, NULL)) > 0)
			;
		EXPECT_INT(n, -1);
		bzip_reader_close(reader);
	}
	fclose(file);
	free(bytes);
	pool_free(pool);
}
