#include "image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "elf/elf_maker.h"
#include "image/file.h"
#include "image/search.h"
#include "image/test_folder.h"
#include "os/file.h"
#include "unit.h"

static const uint8_t id_one[20] = { 0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18 };
static const uint8_t id_two[20] = { 0x12, 0x34, 9 };

static uint8_t *small_elf(const uint8_t *id, size_t *len)
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, 16);
	maker_build_id(&m, id, 20);
	return maker_finish(&m, len);
}

TEST("only regular files are opened, and opening never blocks")
{
	struct folder f;
	struct error err = { 0 };
	struct span bytes;
	folder_open(&f);
	EXPECT_INT(mkfifo(folder_path(&f, "fifo"), 0600), 0);
	EXPECT_INT(rooted_open(-1, folder_path(&f, "fifo"), &err), -1);
	EXPECT(strstr(err.text, "regular"));
	EXPECT_INT(rooted_open(-1, f.root, NULL), -1);
	EXPECT_INT(rooted_open(-1, "/dev/null", NULL), -1);
	EXPECT_INT(rooted_map(-1, folder_path(&f, "absent"), &bytes, &err), -1);
	EXPECT_INT(err.kind, ERROR_SYSTEM);
	EXPECT(!rooted_exists(-1, folder_path(&f, "fifo")));
	folder_close(&f);
}

TEST("an empty file is mapped as no bytes, another one completely")
{
	struct folder f;
	struct span bytes;
	folder_open(&f);
	EXPECT_INT(rooted_map(-1, folder_write(&f, "empty", "", 0), &bytes, NULL), 0);
	EXPECT_INT(bytes.len, 0);
	rooted_unmap(&bytes);
	EXPECT_INT(rooted_map(-1, folder_write(&f, "full", "abc", 3), &bytes, NULL), 0);
	EXPECT(bytes.len == 3 && memcmp(bytes.data, "abc", 3) == 0);
	rooted_release(bytes);
	EXPECT(memcmp(bytes.data, "abc", 3) == 0);
	rooted_unmap(&bytes);
	folder_close(&f);
}

TEST("a file is read up to a limit, a file of /proc to its end")
{
	struct folder f;
	struct error err = { 0 };
	char *text;
	size_t len;
	folder_open(&f);
	const char *path = folder_write(&f, "text", "0123456789", 10);
	EXPECT_INT(rooted_read(-1, path, 10, &text, &len, NULL), 0);
	EXPECT_INT(len, 10);
	free(text);
	EXPECT_INT(rooted_read(-1, path, 9, &text, &len, &err), -1);
	EXPECT(err.kind == ERROR_LIMIT && !text);
	EXPECT_INT(rooted_read(-1, "/proc/self/maps", 1 << 24, &text, &len, NULL), 0);
	EXPECT(len > 100);
	free(text);
	folder_close(&f);
}

TEST("a path seen from another root stays below it, also through links")
{
	struct folder f;
	folder_open(&f);
	folder_write(&f, "root/etc/here", "x", 1);
	folder_write(&f, "etc/there", "x", 1);
	EXPECT_INT(symlink("/etc/here", folder_path(&f, "root/link")), 0);
	EXPECT_INT(symlink("../../etc/there", folder_path(&f, "root/out")), 0);
	int root = open(folder_path(&f, "root"), O_PATH | O_DIRECTORY);
	int fd = rooted_open(root, "/link", NULL);
	if (fd < 0 && rooted_open(root, "/etc/here", NULL) < 0)
		unit_skip("this kernel has no openat2");
	else
		EXPECT(fd >= 0 && rooted_exists(root, "/etc/here") && !rooted_exists(root, "/out") &&
		       !rooted_exists(root, "/../etc/there"));
	close(fd);
	close(root);
	folder_close(&f);
}

/* Denies openat2 to this process from here on. */
static bool refuse_openat2(void)
{
	struct sock_filter code[] = {
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_openat2 },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool opens(int root, const char *path)
{
	int fd = rooted_open(root, path, NULL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

TEST("a path seen from another root stays below it also without openat2")
{
	struct folder f;
	folder_open(&f);
	folder_write(&f, "root/etc/here", "x", 1);
	folder_write(&f, "etc/there", "x", 1);
	EXPECT_INT(symlink("/etc/here", folder_path(&f, "root/absolute")), 0);
	EXPECT_INT(symlink("../../../../etc/here", folder_path(&f, "root/upwards")), 0);
	EXPECT_INT(symlink("etc", folder_path(&f, "root/folder")), 0);
	EXPECT_INT(symlink("folder/../absolute", folder_path(&f, "root/chain")), 0);
	EXPECT_INT(symlink("../../etc/there", folder_path(&f, "root/out")), 0);
	EXPECT_INT(symlink("loop", folder_path(&f, "root/loop")), 0);
	int root = root_open(folder_path(&f, "root"));
	pid_t child = fork();
	if (child == 0) {
		if (!refuse_openat2())
			_exit(2);
		static const char *const inside[] = { "/etc/here", "etc//./here", "/absolute", "/upwards", "/folder/here", "/chain",
			"/../etc/here" };
		bool good = true;
		for (unsigned i = 0; i < sizeof inside / sizeof *inside; i++)
			good &= opens(root, inside[i]);
		good &= !opens(root, "/out") && !opens(root, "/../etc/there") && !opens(root, "/loop") && !opens(root, "/absent") &&
			!opens(root, "/etc/here/more");
		_exit(good ? 0 : 1);
	}
	int status = -1;
	EXPECT_INT(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		unit_skip("no seccomp here");
	else
		EXPECT_INT(status, 0);
	close(root);
	folder_close(&f);
}

TEST("places searched for a file are recorded in order, with their result")
{
	struct image_trail trail = { 0 };
	struct error absent = { .kind = ERROR_SYSTEM, .sys = ENOENT }, refused = { .kind = ERROR_PERMISSION, .sys = EACCES };
	struct error damaged = { .kind = ERROR_FORMAT }, other = { 0 };
	EXPECT_INT(elf_open(&(struct elf){ 0 }, (struct span){ (const uint8_t *)"text", 4 }, &other), -1);
	image_trail_note(NULL, "", "/x", 'd', IMAGE_USED);
	image_trail_note(&trail, "/target", "/x", 'd', image_finding_of(&absent));
	image_trail_note(&trail, "", "/y", 'B', IMAGE_UNUSED);
	image_trail_build(&trail, id_one, 20);
	image_trail_mark(&trail, IMAGE_OTHER_BUILD);
	EXPECT_INT(trail.tries.count, 2);
	EXPECT_STR(trail.tries.items[0].path, "/target/x");
	EXPECT_STR(image_finding_text(trail.tries.items[0].finding), "not there");
	EXPECT(trail.tries.items[1].finding == IMAGE_OTHER_BUILD && trail.tries.items[1].build_id_len == 20);
	EXPECT_INT(image_finding_of(&refused), IMAGE_REFUSED);
	EXPECT_INT(image_finding_of(&damaged), IMAGE_DAMAGED);
	EXPECT_INT(image_finding_of(&other), IMAGE_NOT_ELF);
	image_trail_fini(&trail);
}

TEST("build-ids are equal byte for byte, or up to trailing zeros of the recorded one")
{
	uint8_t padded[20] = { 1, 2, 3 };
	EXPECT(build_id_equal(id_one, 20, id_one, 20));
	EXPECT(!build_id_equal(id_one, 20, id_two, 20));
	EXPECT(build_id_equal(padded, 20, padded, 3));
	EXPECT(!build_id_equal(id_one, 20, id_one, 16));
	EXPECT(!build_id_equal(padded, 3, padded, 20));
	EXPECT(!build_id_equal(padded, 3, padded, 0));
}

TEST("the build-id of a file, of a compressed kernel module and of the kernel's notes")
{
	struct folder f;
	size_t len;
	uint8_t id[ELF_BUILD_ID_MAX], *file = small_elf(id_one, &len);
	folder_open(&f);
	EXPECT_INT(image_build_id_of_path(folder_write(&f, "plain", file, len), id), 20);
	EXPECT(memcmp(id, id_one, 20) == 0);
	gzFile gz = gzopen(folder_path(&f, "mod.ko.gz"), "wb");
	EXPECT_INT(gzwrite(gz, file, (unsigned)len), len);
	gzclose(gz);
	EXPECT_INT(image_build_id_of_path(folder_path(&f, "mod.ko.gz"), id), 20);
	EXPECT_INT(rename(folder_path(&f, "mod.ko.gz"), "/tmp/image-test-other.gz"), 0);
	EXPECT_INT(image_build_id_of_path("/tmp/image-test-other.gz", id), 0);
	unlink("/tmp/image-test-other.gz");
	static const struct {
		uint32_t name_len, len, type;
		char name[4];
		uint8_t id[20];
	} notes = { 4, 20, 3, "GNU", { 7, 8 } };
	EXPECT_INT(image_kernel_build_id(folder_write(&f, "notes", &notes, sizeof notes), id), 20);
	EXPECT(id[0] == 7 && id[1] == 8 && id[2] == 0);
	EXPECT_INT(image_kernel_build_id(folder_path(&f, "none"), id), 0);
	free(file);
	folder_close(&f);
}

TEST("candidates are tried in perf's order, files of another build are skipped")
{
	struct folder f;
	size_t len, len2;
	uint8_t *file = small_elf(id_one, &len), *other = small_elf(id_two, &len2);
	char symfs[PATH_MAX], origins[16] = "";
	folder_open(&f);
	strcpy(symfs, folder_path(&f, "fs"));
	folder_write(&f, "fs/usr/lib/debug/.build-id/ab/cd0102030405060708090a0b0c0d0e0f101112.debug", file, len);
	folder_write(&f, "fs/.debug/.build-id/ab/cd0102030405060708090a0b0c0d0e0f101112/elf", file, len);
	folder_write(&f, "fs/usr/lib/debug/usr/lib/x.debug", other, len2);
	folder_write(&f, "fs/usr/lib/debug/lib/x", file, len);
	folder_write(&f, "fs/usr/lib/x", file, len);
	folder_write(&f, "fs/usr/lib/.debug/x", "no ELF", 6);
	struct module module = { .kind = MODULE_FILE, .name = "/usr/lib/x", .long_name = "/usr/lib/x", .short_name = "x",
		.build_id_len = 20, .pid = -1 };
	memcpy(module.build_id, id_one, 20);
	struct image_options options = { .symfs = symfs };
	struct image_search search;
	struct image image;
	image_search_init(&search, &module, &options);
	while (image_search_next(&search, &image)) {
		origins[strlen(origins)] = image.origin;
		image_close(&image);
	}
	image_search_fini(&search);
	EXPECT_STR(origins, "Bbdx");
	EXPECT_INT(search.mismatched, 1);
	EXPECT_INT(search.damaged, 1);
	EXPECT_INT(image_find(&module, &options, &image, NULL), 0);
	EXPECT_INT(image.origin, 'B');
	image_close(&image);
	free(file);
	free(other);
	folder_close(&f);
}

TEST("without any build-id a debug file is used if its checksum is the link's")
{
	struct folder f;
	char symfs[PATH_MAX];
	folder_open(&f);
	strcpy(symfs, f.root);
	for (unsigned wrong = 0; wrong < 2; wrong++) {
		size_t len;
		struct maker debug = maker_new(true, false, EM_X86_64, ET_DYN);
		maker_section(&debug, ".text", SHT_NOBITS, SHF_ALLOC, 0x1000, NULL, 16);
		uint8_t *file = maker_finish(&debug, &len), link[16] = "x.debug";
		maker_put(&debug, link + 8, crc32(0, file, (unsigned)len) + wrong, 4);
		folder_write(&f, "lib/x.debug", file, len);
		free(file);
		struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
		maker_section(&m, ".gnu_debuglink", SHT_PROGBITS, 0, 0, link, 12);
		file = maker_finish(&m, &len);
		folder_write(&f, "lib/x", file, len);
		free(file);
		struct module module = { .kind = MODULE_FILE, .name = "/lib/x", .long_name = "/lib/x", .short_name = "x", .pid = -1 };
		struct image_options options = { .symfs = symfs };
		struct image_search search;
		struct image image;
		image_search_init(&search, &module, &options);
		EXPECT(image_search_next(&search, &image));
		EXPECT_INT(image.origin, wrong ? 'd' : 'l');
		EXPECT_INT(search.mismatched, wrong);
		image_close(&image);
		image_search_fini(&search);
	}
	folder_close(&f);
}

TEST("a vmlinux given by the user is the only one tried")
{
	struct folder f;
	size_t len;
	uint8_t *file = small_elf(id_one, &len);
	char named[PATH_MAX], symfs[PATH_MAX];
	folder_open(&f);
	folder_write(&f, "boot/vmlinux", file, len);
	strcpy(named, folder_write(&f, "mine", file, len));
	strcpy(symfs, f.root);
	struct module kernel = { .kind = MODULE_KERNEL, .name = "[kernel.kallsyms]", .long_name = "[kernel.kallsyms]",
		.short_name = "[kernel.kallsyms]", .pid = -1 };
	for (unsigned i = 0; i < 3; i++) {
		struct image_options options = { .symfs = symfs, .vmlinux = i ? named : NULL, .no_vmlinux = i == 2 };
		struct image_search search;
		struct image image;
		unsigned found = 0;
		image_search_init(&search, &kernel, &options);
		for (; image_search_next(&search, &image); found++) {
			EXPECT_STR(image.path, i ? named : folder_path(&f, "boot/vmlinux"));
			image_close(&image);
		}
		image_search_fini(&search);
		EXPECT_INT(found, i == 2 ? 0 : 1);
	}
	free(file);
	folder_close(&f);
}

TEST("a compressed kernel module's debug file has its name without the suffix of the compression")
{
	static const char *const places[] = { "usr/lib/debug/lib/modules/1/x.ko", "usr/lib/debug/lib/modules/1/x.ko.debug",
		"usr/lib/debug/usr/lib/modules/1/x.ko.debug" };
	struct folder f;
	size_t len;
	uint8_t *file = small_elf(id_one, &len);
	folder_open(&f);
	struct module module = { .kind = MODULE_KMODULE, .name = "[x]", .long_name = "/lib/modules/1/x.ko.zst", .short_name = "[x]", .pid = -1 };
	struct image_options options = { .symfs = f.root };
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
		folder_write(&f, places[i], file, len);
	struct image_search search;
	struct image image;
	unsigned found = 0;
	image_search_init(&search, &module, &options);
	for (; image_search_next(&search, &image); found++) {
		EXPECT_STR(image.path, folder_path(&f, places[found]));
		EXPECT(!image_runs(&image));
		image_close(&image);
	}
	image_search_fini(&search);
	EXPECT_INT(found, 3);
	free(file);
	folder_close(&f);
}

TEST("an ELF file whose owner removes the terminators of strings while it is open ends in zeros")
{
	struct folder f;
	struct image image;
	size_t len, size = 4 * (size_t)sysconf(_SC_PAGESIZE);
	folder_open(&f);
	uint8_t *file = small_elf(id_one, &len), *padded = memset(calloc(1, size), 'n', size - 1);
	memcpy(padded, file, len);
	const char *path = folder_write(&f, "program", padded, size);
	EXPECT_INT(image_open(&image, -1, path, NULL, NULL), 0);
	struct elf_section section = { .name = ".strtab", .type = SHT_STRTAB, .offset = len, .size = size - len };
	struct span table = elf_strings(&image.elf, &section);
	EXPECT_INT(table.len, size - len);
	const char *name = (const char *)table.data + table.len - 8;
	EXPECT_STR(name, "nnnnnnn");
	CLEANUP_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	EXPECT_INT(pwrite(fd, "n", 1, (off_t)size - 1), 1);
	EXPECT_STR(name, "nnnnnnnn");
	image_close(&image);
	free(padded);
	free(file);
}

/* Counts the candidates of a file that was recorded with this inode. */
static unsigned count_candidates(const char *path, uint64_t ino, const struct image_options *options, uint32_t *mismatched)
{
	struct stat st;
	EXPECT_INT(stat(path, &st), 0);
	struct module module = { .kind = MODULE_FILE, .name = path, .long_name = path, .short_name = "prog", .pid = -1,
		.maj = major(st.st_dev), .min = minor(st.st_dev), .ino = ino ? ino : st.st_ino };
	struct image_search search;
	struct image image;
	unsigned count = 0;
	image_search_init(&search, &module, options);
	for (; image_search_next(&search, &image); count++)
		image_close(&image);
	*mismatched = search.mismatched;
	image_search_fini(&search);
	return count;
}

TEST("without a recorded build-id another inode is refused, on the recorded machine and without --symfs")
{
	struct folder f;
	size_t len;
	uint32_t mismatched;
	char path[256];
	uint8_t *elf = small_elf(id_one, &len);
	folder_open(&f);
	snprintf(path, sizeof path, "%s", folder_write(&f, "prog", elf, len));
	const struct image_options here = { .same_machine = true }, elsewhere = { 0 }, below = { .same_machine = true, .symfs = "/" };
	EXPECT_INT(count_candidates(path, 0, &here, &mismatched), 1);
	EXPECT_INT(mismatched, 0);
	EXPECT_INT(count_candidates(path, 1, &here, &mismatched), 0);
	EXPECT_INT(mismatched, 1);
	EXPECT_INT(count_candidates(path, 1, &elsewhere, &mismatched), 1);
	EXPECT_INT(count_candidates(path, 1, &below, &mismatched), 1);
	free(elf);
	folder_close(&f);
}
