#include "record/acquire/head_build_id.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "image/image.h"
#include "unit.h"

/* A file of a header, one program header and a note with a build-id of 20 bytes, all of it in 0x100 bytes. */
struct tiny {
	Elf64_Ehdr head;
	Elf64_Phdr note;
	uint32_t sizes[3];
	char name[4];
	uint8_t id[20];
};

enum { TINY_SIZE = offsetof(struct tiny, id) + 20 };

static struct tiny tiny(void)
{
	struct tiny t = { .head = { .e_phoff = sizeof t.head, .e_phentsize = sizeof t.note, .e_phnum = 1 },
		.note = { .p_type = PT_NOTE, .p_offset = offsetof(struct tiny, sizes), .p_filesz = 36, .p_align = 4 },
		.sizes = { 4, 20, NT_GNU_BUILD_ID }, .name = "GNU" };
	memcpy(t.head.e_ident, ELFMAG, SELFMAG);
	t.head.e_ident[EI_CLASS] = ELFCLASS64;
	t.head.e_ident[EI_DATA] = HOST_IS_BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB;
	memset(t.id, 0x5a, sizeof t.id);
	return t;
}

static uint8_t length_of(const void *bytes, size_t size)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	FILE *file = tmpfile();
	fwrite(bytes, 1, size, file);
	fflush(file);
	uint8_t len = head_build_id(fileno(file), id);
	fclose(file);
	return len;
}

TEST("the build-id of this program is that of its sections")
{
	uint8_t id[ELF_BUILD_ID_MAX], whole[ELF_BUILD_ID_MAX];
	uint8_t len = image_build_id_of_path("/proc/self/exe", whole);
	FILE *file = fopen("/proc/self/exe", "r");
	EXPECT_INT(head_build_id(fileno(file), id), len);
	EXPECT(memcmp(id, whole, len) == 0);
	fclose(file);
}

TEST("a file that is cut anywhere, or claims more than it has, has no build-id")
{
	struct tiny t = tiny();
	EXPECT_INT(length_of(&t, TINY_SIZE), 20);
	for (size_t size = 0; size < TINY_SIZE; size++)
		EXPECT_INT(length_of(&t, size), 0);
	t.note.p_filesz = 37;
	EXPECT_INT(length_of(&t, TINY_SIZE), 0);
	t = tiny();
	t.note.p_offset = UINT64_MAX - 8;
	EXPECT_INT(length_of(&t, TINY_SIZE), 0);
	t = tiny();
	t.head.e_phoff = TINY_SIZE - sizeof t.note + 1;
	EXPECT_INT(length_of(&t, TINY_SIZE), 0);
	t = tiny();
	t.head.e_phnum = 0xffff; /* the first one is found before */
	EXPECT_INT(length_of(&t, TINY_SIZE), 20);
	t.note.p_type = PT_LOAD;
	EXPECT_INT(length_of(&t, TINY_SIZE), 0);
}

TEST("notes of properties, other byte orders and other sizes of headers are left to others")
{
	struct tiny t = tiny();
	t.note.p_align = 8;
	EXPECT_INT(length_of(&t, TINY_SIZE), 0);
	t = tiny();
	t.head.e_ident[EI_DATA] ^= 3;
	EXPECT_INT(length_of(&t, TINY_SIZE), 0);
	t = tiny();
	t.head.e_phentsize = 0;
	EXPECT_INT(length_of(&t, TINY_SIZE), 0);
	t = tiny();
	t.head.e_ident[EI_CLASS] = 3;
	EXPECT_INT(length_of(&t, TINY_SIZE), 0);
}
