#include "image/kcore.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "image/image.h"
#include "image/test_folder.h"

#define TEXT 0xffffffff81000000u
#define MODULES 0xffffffffc0000000u

static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81000f00 T _etext\n"
	"ffffffffc0000010 t work\t[some]\nffffffffff000000 t prog\t[bpf]\n";
static const char modules[] = "some 4096 0 - Live 0xffffffffc0000000\n";

/* Modules, text and other memory, each of two pages. */
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

TEST("of the kernel's memory text and modules are copied, and read by address")
{
	struct folder f;
	struct image image;
	char cache[PATH_MAX], kcore[PATH_MAX], at[PATH_MAX], bytes[16];
	folder_open(&f);
	write_kernel(&f);
	strcpy(cache, folder_path(&f, "cache"));
	strcpy(kcore, folder_path(&f, "root/proc/kcore"));
	EXPECT_INT(kcore_cache_add(cache, kcore, false, at, sizeof at, NULL), 1);
	EXPECT_INT(kcore_cache_add(cache, kcore, false, at, sizeof at, NULL), 0);
	strcat(at, "/kcore");
	EXPECT_INT(image_open(&image, -1, at, NULL), 0);
	EXPECT_INT(image.elf.load_count, 2);
	EXPECT_INT(kcore_read(&image, TEXT + 0x10, bytes, sizeof bytes), sizeof bytes);
	EXPECT(bytes[0] == 'T' && bytes[15] == 'T');
	EXPECT_INT(kcore_read(&image, TEXT + 0xffc, bytes, sizeof bytes), 4);
	EXPECT_INT(kcore_read(&image, TEXT + 0x1000, bytes, sizeof bytes), 0);
	EXPECT_INT(kcore_read(&image, MODULES, bytes, 1), 1);
	EXPECT_INT(bytes[0], 'M');
	EXPECT_INT(kcore_read(&image, 0xffff888000000000, bytes, 1), 0);
	image_close(&image);
	folder_close(&f);
}

TEST("what is no core file, or hides its addresses, is not copied")
{
	struct folder f;
	struct error err = { 0 };
	char cache[PATH_MAX], kcore[PATH_MAX], at[PATH_MAX];
	folder_open(&f);
	write_kernel(&f);
	strcpy(cache, folder_path(&f, "cache"));
	strcpy(kcore, folder_path(&f, "root/proc/kcore"));
	folder_write(&f, "root/proc/kallsyms", "0000000000000000 T _stext\n", 26);
	EXPECT_INT(kcore_cache_add(cache, kcore, false, at, sizeof at, &err), -1);
	EXPECT(strstr(err.text, "kptr_restrict"));
	folder_write(&f, "root/proc/kallsyms", kallsyms, sizeof kallsyms - 1);
	folder_write(&f, "root/proc/kcore", "no core", 7);
	EXPECT_INT(kcore_cache_add(cache, kcore, false, at, sizeof at, &err), -1);
	EXPECT_INT(kcore_cache_add(cache, "/elsewhere", false, at, sizeof at, &err), -1);
	folder_close(&f);
}
