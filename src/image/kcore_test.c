#include "image/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/cache.h"
#include "image/image.h"
#include "image/test_folder.h"
#include "os/file.h"

#define TEXT 0xffffffff81000000u
#define MODULES 0xffffffffc0000000u

static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81000f00 T _etext\n"
	"0000000000000000 A start\t[some]\nffffffffc0000010 t work\t[some]\nffffffffff000000 t prog\t[bpf]\n";
static const char modules[] = "some 4096 0 - Live 0xffffffffc0000000\n";

/* Writes modules, text and other memory, each of two pages. */
static void write_kernel(struct folder *f)
{
	static const uint64_t addresses[] = { MODULES, TEXT, 0xffff888000000000 };
	static const size_t size = 0x1000 + 3 * 0x2000;
	uint8_t *file = calloc(1, size);
	Elf64_Ehdr header = { .e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = 1, .e_phoff = 64, .e_ehsize = 64, .e_phentsize = 56,
		.e_phnum = 3 };
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	memcpy(file, &header, sizeof header);
	for (unsigned i = 0; i < 3; i++) {
		Elf64_Phdr load = { .p_type = PT_LOAD, .p_offset = 0x1000 + i * 0x2000, .p_vaddr = addresses[i], .p_filesz = 0x2000,
			.p_memsz = 0x2000 };
		memcpy(file + 64 + i * sizeof load, &load, sizeof load);
		memset(file + load.p_offset, "MTD"[i], 0x2000);
	}
	folder_write(f, "root/proc/kcore", file, size);
	folder_write(f, "root/proc/kallsyms", kallsyms, sizeof kallsyms - 1);
	folder_write(f, "root/proc/modules", modules, sizeof modules - 1);
	static const struct {
		uint32_t name_len, len, type;
		char name[4];
		uint8_t id[20];
	} notes = { 4, 20, 3, "GNU", { 7, 8 } };
	folder_write(f, "root/sys/kernel/notes", &notes, sizeof notes);
	free(file);
}

TEST("text and modules of the kernel's memory are copied, and read by address")
{
	struct folder f;
	struct image image;
	char cache[PATH_MAX], kcore[PATH_MAX], at[PATH_MAX], path[2 * PATH_MAX], bytes[16];
	folder_open(&f);
	write_kernel(&f);
	strcpy(cache, folder_path(&f, "cache"));
	CLEANUP_FD int fd = cache_open(cache, CACHE_MAKE, NULL);
	strcpy(kcore, folder_path(&f, "root/proc/kcore"));
	EXPECT_INT(kcore_cache_add(fd, kcore, false, at, sizeof at, NULL), 1);
	EXPECT_INT(kcore_cache_add(fd, kcore, false, at, sizeof at, NULL), 0);
	snprintf(path, sizeof path, "%s/%s/kcore", cache, at);
	EXPECT_INT(image_open(&image, -1, path, NULL, NULL), 0);
	EXPECT_INT(image.elf.load_count, 2);
	EXPECT_INT(kcore_read(&image, TEXT + 0x10, bytes, sizeof bytes), sizeof bytes);
	EXPECT(bytes[0] == 'T' && bytes[15] == 'T');
	EXPECT_INT(kcore_read(&image, TEXT + 0xffc, bytes, sizeof bytes), 4);
	EXPECT_INT(kcore_read(&image, TEXT + 0x1000, bytes, sizeof bytes), 0);
	EXPECT_INT(kcore_read(&image, MODULES, bytes, 1), 1);
	EXPECT_INT(bytes[0], 'M');
	EXPECT_INT(kcore_read(&image, MODULES + 0x1ffc, bytes, sizeof bytes), 4);
	EXPECT_INT(kcore_read(&image, 0xffff888000000000, bytes, 1), 0);
	image_close(&image);
	folder_close(&f);
}

TEST("a file that is not a core file, or a kernel that hides its addresses, is not copied")
{
	struct folder f;
	struct error err = { 0 };
	char cache[PATH_MAX], kcore[PATH_MAX], at[PATH_MAX];
	folder_open(&f);
	write_kernel(&f);
	strcpy(cache, folder_path(&f, "cache"));
	CLEANUP_FD int fd = cache_open(cache, CACHE_MAKE, NULL);
	strcpy(kcore, folder_path(&f, "root/proc/kcore"));
	folder_write(&f, "root/proc/kallsyms", "0000000000000000 T _stext\n", 26);
	EXPECT_INT(kcore_cache_add(fd, kcore, false, at, sizeof at, &err), -1);
	EXPECT(strstr(err.text, "kptr_restrict"));
	folder_write(&f, "root/proc/kallsyms", kallsyms, sizeof kallsyms - 1);
	folder_write(&f, "root/proc/kcore", "no core", 7);
	EXPECT_INT(kcore_cache_add(fd, kcore, false, at, sizeof at, &err), -1);
	EXPECT_INT(kcore_cache_add(fd, "/elsewhere", false, at, sizeof at, &err), -1);
	folder_close(&f);
}

static const char *const copies[] = { "kcore", "kallsyms", "modules" };

/* The mode of a file in the folder of a copy; 0: it is missing. */
static mode_t mode_of(const char *to, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	EXPECT((size_t)snprintf(path, sizeof path, "%.3000s/%s", to, name) < sizeof path);
	return lstat(path, &st) == 0 ? st.st_mode : 0;
}

static int new_folder(const char *path)
{
	int folder = mkdir(path, 0700) == 0 ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	EXPECT(folder >= 0);
	return folder;
}

TEST("copies of the kernel's memory are readable by their owner alone, whatever the umask")
{
	struct folder f;
	char from[PATH_MAX], to[PATH_MAX];
	folder_open(&f);
	write_kernel(&f);
	strcpy(from, folder_path(&f, "root/proc"));
	strcpy(to, folder_path(&f, "to"));
	mode_t before = umask(0);
	int folder = new_folder(to);
	EXPECT_INT(kcore_copy(from, folder, NULL), 0);
	umask(before);
	close(folder);
	for (unsigned i = 0; i < 3; i++)
		EXPECT_INT(mode_of(to, copies[i]), S_IFREG | 0400);
	folder_close(&f);
}

TEST("a copy of the kernel's memory follows no link and replaces no file that is in its place")
{
	for (unsigned i = 0; i < 3; i++) {
		struct folder f;
		struct error err = { 0 };
		char from[PATH_MAX], to[PATH_MAX], other[PATH_MAX], at[PATH_MAX];
		folder_open(&f);
		write_kernel(&f);
		strcpy(from, folder_path(&f, "root/proc"));
		strcpy(to, folder_path(&f, "to"));
		strcpy(other, folder_path(&f, "other"));
		int folder = new_folder(to);
		EXPECT((size_t)snprintf(at, sizeof at, "%.3000s/%s", to, copies[i]) < sizeof at);
		EXPECT_INT(symlink(other, at), 0);
		EXPECT(kcore_copy(from, folder, &err) < 0);
		close(folder);
		EXPECT_INT(err.sys, EEXIST);
		EXPECT(access(other, F_OK) != 0);
		EXPECT_INT(mode_of(to, copies[i]) & S_IFMT, S_IFLNK);
		folder_close(&f);
	}
}
