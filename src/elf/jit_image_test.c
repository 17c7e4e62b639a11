#include "elf/jit_image.h"

#include <elf.h>

#include "elf/elf.h"
#include "unit.h"

static uint8_t written_id[ELF_BUILD_ID_MAX];

static void write_image(struct writer *out, const char *name, bool unwinding, bool lines)
{
	static const struct jit_image_line rows[] = { { 0, 5, "a.js" }, { 4, 7, "a.js" }, { 9, 2, "b.js" } };
	struct jit_image image = { .address = 0x7000, .name = name, .code = { (const uint8_t *)"0123456789", 10 } };
	if (unwinding) {
		image.eh_frame = (struct span){ (const uint8_t *)"FRAMES", 6 };
		image.eh_frame_hdr = (struct span){ (const uint8_t *)"HEAD", 4 };
	}
	image.lines = lines ? rows : NULL;
	image.line_count = lines ? 3 : 0;
	writer_open(out, -1, 0);
	jit_image_write(&image, out, written_id);
}

static void expect_section(const struct elf *elf, const char *name, const char *bytes)
{
	const struct elf_section *section = elf_section(elf, name);
	EXPECT(section);
	struct span span = section ? elf_section_bytes(elf, section) : (struct span){ 0 };
	EXPECT(span.len == strlen(bytes) && memcmp(span.data, bytes, span.len) == 0);
}

TEST("an image of a function is a shared object with its code, its symbol and a unique build-id")
{
	for (unsigned i = 0; i < 4; i++) {
		struct writer out;
		struct elf elf;
		uint8_t id[ELF_BUILD_ID_MAX];
		write_image(&out, "add", i & 1, i & 2);
		EXPECT_INT(elf_open(&elf, (struct span){ (uint8_t *)out.buffer, out.len }, NULL), 0);
		EXPECT_INT(elf.type, ET_DYN);
		expect_section(&elf, ".text", "0123456789");
		EXPECT_INT(elf_section(&elf, ".text")->offset, JIT_IMAGE_TEXT);
		EXPECT_INT(elf_build_id(&elf, id), 20);
		EXPECT_INT(elf_section(&elf, ".symtab")->size, 2 * sizeof(Elf64_Sym));
		EXPECT_INT(elf_section(&elf, ".symtab")->link, elf_section_index(&elf, elf_section(&elf, ".strtab")));
		EXPECT(elf.load_count == 1 && elf.loads[0].vaddr == JIT_IMAGE_TEXT && elf.loads[0].file_size == 10);
		if (i & 1) {
			expect_section(&elf, ".eh_frame", "FRAMES");
			expect_section(&elf, ".eh_frame_hdr", "HEAD");
		}
		EXPECT(!!elf_section(&elf, ".debug_line") == !!(i & 2) && !!elf_section(&elf, ".eh_frame") == !!(i & 1));
		elf_close(&elf);
		writer_fini(&out);
	}
}

TEST("two functions with the same code have different build-ids, one function always has the same")
{
	struct writer out[3];
	const char *names[] = { "one", "two", "one" };
	uint8_t id[3][ELF_BUILD_ID_MAX];
	for (unsigned i = 0; i < 3; i++) {
		struct elf elf;
		write_image(&out[i], names[i], false, false);
		EXPECT_INT(elf_open(&elf, (struct span){ (uint8_t *)out[i].buffer, out[i].len }, NULL), 0);
		EXPECT_INT(elf_build_id(&elf, id[i]), 20);
		EXPECT(memcmp(id[i], written_id, 20) == 0);
		elf_close(&elf);
		writer_fini(&out[i]);
	}
	EXPECT(memcmp(id[0], id[1], 20) != 0);
	EXPECT(memcmp(id[0], id[2], 20) == 0);
}

TEST("the line table defines each file at its first line, and advances from row to row")
{
	static const char address[2][12] = { "\0\x09\2\x80\0\0\0\0\0\0\0", "\0\x09\2\0\0\0\0\0\0\0\x80" }; /* of the code */
	static const char program[] = "\0\x09\3a.js\0\0\0\0\4\1\3\4\2\0\1" "\3\2\2\4\1" "\0\x09\3b.js\0\0\0\0\4\2\3\x7b\2\5\1"
		"\2\1\0\1\1"; /* the end, after the last byte */
	struct writer out;
	struct elf elf;
	write_image(&out, "add", false, true);
	EXPECT_INT(elf_open(&elf, (struct span){ (uint8_t *)out.buffer, out.len }, NULL), 0);
	struct span lines = elf_section_bytes(&elf, elf_section(&elf, ".debug_line"));
	size_t len = sizeof program - 1;
	EXPECT(JIT_IMAGE_TEXT == 0x80 && lines.len > len + 11 && memcmp(lines.data + lines.len - len, program, len) == 0);
	EXPECT(memcmp(lines.data + lines.len - len - 11, address[HOST_IS_BIG_ENDIAN], 11) == 0);
	elf_close(&elf);
	writer_fini(&out);
}
