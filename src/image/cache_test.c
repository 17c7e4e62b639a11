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
static int cache;

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
	cache = cache_open(dir, CACHE_MAKE, NULL);
	EXPECT(cache >= 0);
}

static void end(void)
{
	close(cache);
	folder_close(&folder);
}

static char *cached_path(const uint8_t *id, const char *leaf)
{
	static char path[PATH_MAX];
	EXPECT(buildid_cache_path(dir, id, 20, leaf, path, sizeof path));
	return path;
}

TEST("a file is added once, listed, and removed with all that the cache stores for it")
{
	struct cache_list list;
	begin();
	struct cached_file file = write_file("bin/x", one);
	EXPECT_INT(cache_add(cache, &file, NULL), 1);
	EXPECT_INT(cache_add(cache, &file, NULL), 0);
	EXPECT(cache_has(cache, one, 20) && !cache_has(cache, two, 20));
	EXPECT_INT(access(cached_path(one, "elf"), R_OK), 0);
	EXPECT_INT(cache_list(cache, &list, NULL), 0);
	EXPECT_INT(list.entries.count, 1);
	EXPECT_STR(list.entries.items[0].path, file.path);
	EXPECT(memcmp(list.entries.items[0].id, one, 20) == 0);
	cache_list_fini(&list);
	EXPECT_INT(cache_remove(cache, one, 20, NULL), 0);
	EXPECT_INT(cache_remove(cache, one, 20, NULL), -1);
	EXPECT(!cache_has(cache, one, 20));
	EXPECT_INT(cache_list(cache, &list, NULL), 0);
	EXPECT_INT(list.entries.count, 0);
	cache_list_fini(&list);
	free((void *)file.path);
	end();
}

TEST("builds of one path are listed in order of their ids")
{
	struct cache_list list;
	begin();
	struct cached_file file = write_file("bin/x", one);
	EXPECT_INT(cache_add(cache, &file, NULL), 1);
	unlink(file.path);
	struct cached_file other = write_file("bin/x", two);
	EXPECT_INT(cache_add(cache, &other, NULL), 1);
	EXPECT_INT(cache_list_builds(cache, file.path, &list, NULL), 0);
	EXPECT(list.entries.count == 2 && memcmp(list.entries.items[0].id, two, 20) == 0);
	cache_list_fini(&list);
	EXPECT_INT(cache_list_builds(cache, "/absent", &list, NULL), -1);
	cache_list_fini(&list);
	free((void *)file.path);
	free((void *)other.path);
	end();
}

TEST("a file whose build-id differs from the stated one is not added")
{
	struct error err = { 0 };
	begin();
	struct cached_file file = write_file("bin/x", one);
	memcpy(file.id, two, 20);
	EXPECT_INT(cache_add(cache, &file, &err), -1);
	EXPECT(strstr(err.text, "another build-id"));
	EXPECT(!cache_has(cache, two, 20));
	struct cached_file kernel = { .kind = CACHED_KALLSYMS, .path = "[kernel.kallsyms]", .root = -1, .id_len = 20 };
	EXPECT_INT(cache_add(cache, &kernel, NULL), -1);
	struct cached_file vdso = { .kind = CACHED_VDSO, .path = "[vdso]", .root = -1, .id_len = 20 };
	EXPECT_INT(cache_add(cache, &vdso, NULL), -1);
	free((void *)file.path);
	end();
}

static void write_cached(const uint8_t *id, const char *text)
{
	FILE *out = fopen(cached_path(id, "probes"), "w");
	EXPECT(out && fputs(text, out) >= 0);
	if (out)
		fclose(out);
}

TEST("the builds that have a file are listed, unless it is empty")
{
	struct cache_list list;
	begin();
	struct cached_file first = write_file("bin/x", one), second = write_file("bin/y", two);
	EXPECT_INT(cache_add(cache, &first, NULL), 1);
	EXPECT_INT(cache_add(cache, &second, NULL), 1);
	write_cached(one, "");
	EXPECT_INT(cache_list_having(cache, "probes", &list, NULL), 0);
	EXPECT_INT(list.entries.count, 0);
	cache_list_fini(&list);
	write_cached(two, "x");
	EXPECT_INT(cache_list_having(cache, "probes", &list, NULL), 0);
	EXPECT(list.entries.count == 1 && memcmp(list.entries.items[0].id, two, 20) == 0);
	cache_list_fini(&list);
	free((void *)first.path);
	free((void *)second.path);
	end();
}

TEST("a file is seen from the given root, and stored under its path there")
{
	begin();
	struct cached_file file = write_file("root/bin/x", one);
	file.root = open(folder_path(&folder, "root"), O_PATH | O_DIRECTORY);
	free((void *)file.path);
	file.path = "/bin/x";
	EXPECT_INT(cache_add(cache, &file, NULL), 1);
	struct cache_list list;
	EXPECT_INT(cache_list(cache, &list, NULL), 0);
	EXPECT(list.entries.count == 1 && strcmp(list.entries.items[0].path, "/bin/x") == 0);
	cache_list_fini(&list);
	close(file.root);
	end();
}

TEST("a link that leads out of the cache removes nothing there")
{
	begin();
	struct cached_file file = write_file("bin/x", one);
	EXPECT_INT(cache_add(cache, &file, NULL), 1);
	char *path = cached_path(one, "");
	path[strlen(path) - 1] = '\0';
	EXPECT_INT(unlink(path), 0);
	EXPECT_INT(symlink("../../../bin", path), 0);
	EXPECT_INT(cache_remove(cache, one, 20, NULL), -1);
	EXPECT_INT(access(file.path, F_OK), 0);
	EXPECT_INT(unlink(path), 0);
	EXPECT_INT(symlink("/tmp", path), 0);
	EXPECT_INT(cache_remove(cache, one, 20, NULL), -1);
	free((void *)file.path);
	end();
}

TEST("hexadecimal text is a build-id only if all of it is hexadecimal")
{
	uint8_t id[ELF_BUILD_ID_MAX];
	EXPECT_INT(build_id_parse("abcd01", id), 3);
	EXPECT(id[0] == 0xab && id[1] == 0xcd && id[2] == 1);
	EXPECT_INT(build_id_parse("", id), 0);
	EXPECT_INT(build_id_parse("abc", id), 0);
	EXPECT_INT(build_id_parse("zz", id), 0);
	EXPECT_INT(build_id_parse("00112233445566778899aabbccddeeff0011223344", id), 0);
}

TEST("a file whose recorded name leads out of the cache, or into its own links, is not added")
{
	static const char *const names[] = {
		"/memfd:x/../../../out", "/../out", "/a/./b", "/a//b", "/.build-id/ab", "/[vdso]", "/[kernel.kallsyms]/x", "/..", "/", "",
	};
	struct cache_list list;
	begin();
	struct cached_file file = write_file("bin/x", one);
	file.open = true;
	file.file = open(file.path, O_RDONLY);
	free((void *)file.path);
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		file.path = names[i];
		EXPECT_INT(cache_add(cache, &file, NULL), -1);
	}
	EXPECT_INT(access(folder_path(&folder, "out"), F_OK), -1);
	EXPECT_INT(cache_list(cache, &list, NULL), 0);
	EXPECT_INT(list.entries.count, 0);
	cache_list_fini(&list);
	file.path = "/memfd:x (deleted)";
	EXPECT_INT(cache_add(cache, &file, NULL), 1);
	close(file.file);
	end();
}

TEST("the names of the kernel's symbols and of the vdso are not the recording's word")
{
	uint8_t id[ELF_BUILD_ID_MAX];
	char path[PATH_MAX];
	struct stat st;
	begin();
	struct cached_file kernel = { .kind = CACHED_KALLSYMS, .path = "/tmp/../out", .root = -1 };
	kernel.id_len = image_kernel_build_id("/sys/kernel/notes", id);
	memcpy(kernel.id, id, kernel.id_len);
	if (kernel.id_len) {
		EXPECT_INT(cache_add(cache, &kernel, NULL), 1);
		EXPECT(buildid_cache_path(dir, id, kernel.id_len, "kallsyms", path, sizeof path));
		EXPECT(stat(path, &st) == 0 && (st.st_mode & 07777) == 0400);
		EXPECT(st.st_size > 0);
		EXPECT_INT(access(folder_path(&folder, "cache/[kernel.kallsyms]"), F_OK), 0);
	} else {
		unit_skip("this kernel has no build-id in /sys/kernel/notes");
	}
	end();
}

TEST("a link in the cache is not followed out of it, whatever is added, removed or listed")
{
	struct cache_list list;
	begin();
	struct cached_file file = write_file("bin/x", one);
	char out[PATH_MAX];
	strcpy(out, folder_path(&folder, "out"));
	EXPECT_INT(mkdir(out, 0755), 0);
	EXPECT_INT(symlinkat(out, cache, "tmp"), 0);
	EXPECT_INT(cache_add(cache, &file, NULL), -1);
	EXPECT_INT(rmdir(out), 0);
	EXPECT_INT(mkdir(out, 0755), 0);
	EXPECT_INT(unlinkat(cache, "tmp", 0), 0);
	EXPECT_INT(symlinkat(out, cache, ".build-id"), 0);
	EXPECT_INT(cache_add(cache, &file, NULL), -1);
	EXPECT_INT(cache_list(cache, &list, NULL), -1);
	cache_list_fini(&list);
	EXPECT_INT(rmdir(out), 0);
	free((void *)file.path);
	end();
}

static mode_t mode_of_copy(const uint8_t *id)
{
	struct stat st;
	return stat(cached_path(id, "elf"), &st) == 0 ? st.st_mode & 07777 : 0;
}

TEST("a copy is readable only by users who can read the file")
{
	begin();
	EXPECT_INT(chmod(folder.root, 0755), 0);
	struct cached_file secret = write_file("bin/x", one), shut = write_file("shut/y", two);
	EXPECT_INT(chmod(secret.path, 0600), 0);
	EXPECT_INT(cache_add(cache, &secret, NULL), 1);
	EXPECT_INT(mode_of_copy(one), 0600);
	EXPECT_INT(chmod(shut.path, 0755), 0);
	EXPECT_INT(chmod(folder_path(&folder, "shut"), 0700), 0);
	EXPECT_INT(cache_add(cache, &shut, NULL), 1);
	EXPECT_INT(mode_of_copy(two), 0700);
	EXPECT_INT(cache_remove(cache, one, 20, NULL), 0);
	EXPECT_INT(chmod(secret.path, 04755), 0);
	EXPECT_INT(cache_add(cache, &secret, NULL), 1);
	EXPECT_INT(mode_of_copy(one), 0755);
	EXPECT_INT(cache_remove(cache, one, 20, NULL), 0);
	/* an open file of a process is behind no folder */
	secret.open = true;
	secret.file = open(secret.path, O_RDONLY);
	EXPECT_INT(cache_add(cache, &secret, NULL), 1);
	EXPECT_INT(mode_of_copy(one), 0700);
	close(secret.file);
	free((void *)secret.path);
	free((void *)shut.path);
	end();
}

TEST("a file of another user is copied, not linked, so that its owner cannot change the copy")
{
	struct stat st;
	if (geteuid() != 0) {
		unit_skip("only root can create files of another user");
		return;
	}
	begin();
	EXPECT_INT(chmod(folder.root, 0755), 0);
	struct cached_file file = write_file("bin/x", one), own = write_file("bin/y", two);
	EXPECT(chmod(file.path, 0755) == 0 && chown(file.path, 64321, 64321) == 0);
	EXPECT_INT(cache_add(cache, &file, NULL), 1);
	EXPECT(stat(cached_path(one, "elf"), &st) == 0 && st.st_nlink == 1 && st.st_uid == 0);
	EXPECT_INT(chmod(own.path, 0755), 0);
	EXPECT_INT(cache_add(cache, &own, NULL), 1);
	EXPECT(stat(cached_path(two, "elf"), &st) == 0 && st.st_nlink == 2);
	free((void *)file.path);
	free((void *)own.path);
	end();
}

TEST("a copy of a file with holes has the same holes")
{
	struct stat st;
	begin();
	struct cached_file file = write_file("bin/x", one);
	EXPECT_INT(chmod(file.path, 0640), 0);
	EXPECT_INT(truncate(file.path, (off_t)1 << 36), 0);
	file.open = true;
	file.file = open(file.path, O_RDONLY);
	EXPECT_INT(cache_add(cache, &file, NULL), 1);
	EXPECT(stat(cached_path(one, "elf"), &st) == 0 && st.st_size == (off_t)1 << 36 && st.st_blocks < 4096);
	close(file.file);
	free((void *)file.path);
	end();
}

TEST("without a folder there is no cache, for whatever use, and the error says how to name one")
{
	for (int use = CACHE_READ; use <= CACHE_MAKE; use++) {
		struct error err = { 0 };
		EXPECT_INT(cache_open(NULL, (enum cache_use)use, &err), -1);
		EXPECT(err.kind == ERROR_UNSUPPORTED && strstr(err.hint, "--buildid-dir"));
	}
}
