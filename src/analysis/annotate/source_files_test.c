#include "analysis/annotate/source_files.h"

#include "base/memory.h"
#include "image/test_folder.h"

static void expect_line(struct source_files *texts, const char *path, uint32_t line, const char *want)
{
	uint32_t length = 0;
	const char *text = source_files_line(texts, path, line, &length);
	EXPECT((text != NULL) == (want != NULL));
	if (text && want) {
		EXPECT_INT(length, strlen(want));
		EXPECT(memcmp(text, want, length) == 0);
	}
}

TEST("lines of a source file have no ends, and the last one needs none")
{
	struct folder folder;
	folder_open(&folder);
	const char *path = folder_write(&folder, "a.c", "one\r\n\nthree", 11);
	struct source_files *texts = source_files_new(NULL, 0);
	expect_line(texts, path, 0, NULL);
	expect_line(texts, path, 1, "one");
	expect_line(texts, path, 2, "");
	expect_line(texts, path, 3, "three");
	expect_line(texts, path, 4, NULL);
	expect_line(texts, "/nowhere/a.c", 1, NULL);
	source_files_free(texts);
	folder_close(&folder);
}

TEST("a prefix replaces the first folders of absolute paths")
{
	struct folder folder;
	folder_open(&folder);
	folder_write(&folder, "src/a.c", "found\n", 6);
	struct source_files *texts = source_files_new(folder.root, 2), *whole = source_files_new(folder.root, 0);
	expect_line(texts, "/build/dir/src/a.c", 1, "found");
	expect_line(texts, "/dir/src/a.c", 1, NULL);
	expect_line(whole, "/src/a.c", 1, "found");
	source_files_free(texts);
	source_files_free(whole);
	folder_close(&folder);
}

TEST("a folder is no source file")
{
	struct source_files *texts = source_files_new(NULL, 0);
	expect_line(texts, "/tmp", 1, NULL);
	source_files_free(texts);
}

TEST("lines of very many files take bounded memory")
{
	enum { BYTES = 1 << 20, FILES = 17 };
	struct folder folder;
	folder_open(&folder);
	char *text = memory_alloc(BYTES), paths[FILES][PATH_MAX + 32];
	memset(text, '\n', BYTES);
	const char *path = folder_write(&folder, "a.c", text, BYTES);
	struct source_files *texts = source_files_new(NULL, 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(paths[i], sizeof paths[i], "%s", path);
		expect_line(texts, paths[i], BYTES, i < FILES - 1 ? "" : NULL);
	}
	expect_line(texts, paths[0], 1, "");
	source_files_free(texts);
	free(text);
	folder_close(&folder);
}
