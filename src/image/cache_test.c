#include "image/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_maker.h"
#include "image/search.h"
#include "image/test_folder.h"

static const uint8_t one[20] = { 0xab, 0xcd, 1 }, two[20] = { 0x12, 0x34, 9 };
static struct folder folder;
static char dir[PATH_MAX];

static struct cached_file write_file(const char *name, const uint8_t *id)
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	maker_build_id(&m, id, 20);
	size_t len;
	uint8_t *file = maker_finish(&m, &len);
	struct cached_file cached = { .path = strdup(folder_write(&folder, name, file, len)), .root = -1, .id_len = 20 };
	memcpy(cached.id, id, 20);
	free(file);
	return cached;
}

static void begin(void)
{
	folder_open(&folder);
	strcpy(dir, folder_path(&folder, "cache"));
}

static char *cached_path(const uint8_t *id, const char *leaf)
{
	static char path[PATH_MAX];
	EXPECT(buildid_cache_path(dir, id, 20, leaf, path, sizeof path));
	return path;
}

TEST("a file is added once, listed, and removed with all that is kept of it")
{
	struct cache_list list;
	begin();
	struct cached_file file = write_file("bin/x", one);
	EXPECT_INT(cache_add(dir, &file, NULL), 1);
	EXPECT_INT(cache_add(dir, &file, NULL), 0);
	EXPECT(cache_has(dir, one, 20) && !cache_has(dir, two, 20));
	EXPECT_INT(access(cached_path(one, "elf"), R_OK), 0);
	EXPECT_INT(cache_list(dir, &list, NULL), 0);
	EXPECT_INT(list.entries.count, 1);
	EXPECT_STR(list.entries.items[0].path, file.path);
	EXPECT(memcmp(list.entries.items[0].id, one, 20) == 0);
	cache_list_fini(&list);
	EXPECT_INT(cache_remove(dir, one, 20, NULL), 0);
	EXPECT_INT(cache_remove(dir, one, 20, NULL), -1);
	EXPECT(!cache_has(dir, one, 20));
	EXPECT_INT(cache_list(dir, &list, NULL), 0);
	EXPECT_INT(list.entries.count, 0);
	cache_list_fini(&list);
	free((void *)file.path);
	folder_close(&folder);
}

TEST("builds of one path are listed in order of their ids")
{
	struct cache_list list;
	begin();
	struct cached_file file = write_file("bin/x", one);
	EXPECT_INT(cache_add(dir, &file, NULL), 1);
	unlink(file.path);
	struct cached_file other = write_file("bin/x", two);
	EXPECT_INT(cache_add(dir, &other, NULL), 1);
	EXPECT_INT(cache_list_builds(dir, file.path, &list, NULL), 0);
	EXPECT(list.entries.count == 2 && memcmp(list.entries.items[0].id, two, 20) == 0);
	cache_list_fini(&list);
	EXPECT_INT(cache_list_builds(dir, "/absent", &list, NULL), -1);
	cache_list_fini(&list);
	free((void *)file.path);
	free((void *)other.path);
	folder_close(&folder);
}

TEST("a file of another build-id than it is said to be is not added")
{
	struct error err = { 0 };
	begin();
	struct cached_file file = write_file("bin/x", one);
	memcpy(file.id, two, 20);
	EXPECT_INT(cache_add(dir, &file, &err), -1);
	EXPECT(strstr(err.text, "another build-id"));
	EXPECT(!cache_has(dir, two, 20));
	struct cached_file kernel = { .kind = CACHED_KALLSYMS, .path = "[kernel.kallsyms]", .root = -1, .id_len = 20 };
	EXPECT_INT(cache_add(dir, &kernel, NULL), -1);
	struct cached_file vdso = { .kind = CACHED_VDSO, .path = "[vdso]", .root = -1, .id_len = 20 };
	EXPECT_INT(cache_add(dir, &vdso, NULL), -1);
	free((void *)file.path);
	folder_close(&folder);
}

TEST("a file is seen from the root that is given, and kept under its path there")
{
	begin();
	struct cached_file file = write_file("root/bin/x", one);
	file.root = open(folder_path(&folder, "root"), O_PATH | O_DIRECTORY);
	free((void *)file.path);
	file.path = "/bin/x";
	EXPECT_INT(cache_add(dir, &file, NULL), 1);
	struct cache_list list;
	EXPECT_INT(cache_list(dir, &list, NULL), 0);
	EXPECT(list.entries.count == 1 && strcmp(list.entries.items[0].path, "/bin/x") == 0);
	cache_list_fini(&list);
	close(file.root);
	folder_close(&folder);
}

TEST("a link that leads out of the cache removes nothing there")
{
	begin();
	struct cached_file file = write_file("bin/x", one);
	EXPECT_INT(cache_add(dir, &file, NULL), 1);
	char *path = cached_path(one, "");
	path[strlen(path) - 1] = '\0';
	EXPECT_INT(unlink(path), 0);
	EXPECT_INT(symlink("../../../bin", path), 0);
	EXPECT_INT(cache_remove(dir, one, 20, NULL), -1);
	EXPECT_INT(access(file.path, F_OK), 0);
	EXPECT_INT(unlink(path), 0);
	EXPECT_INT(symlink("/tmp", path), 0);
	EXPECT_INT(cache_remove(dir, one, 20, NULL), -1);
	free((void *)file.path);
	folder_close(&folder);
}

TEST("hexadecimal text is a build-id only where it is nothing else")
{
	uint8_t id[ELF_BUILD_ID_MAX];
	EXPECT_INT(build_id_parse("abcd01", id), 3);
	EXPECT(id[0] == 0xab && id[1] == 0xcd && id[2] == 1);
	EXPECT_INT(build_id_parse("", id), 0);
	EXPECT_INT(build_id_parse("abc", id), 0);
	EXPECT_INT(build_id_parse("zz", id), 0);
	EXPECT_INT(build_id_parse("00112233445566778899aabbccddeeff0011223344", id), 0);
}
