#include "elf/elf.h"

#include <zlib.h>
#include <zstd.h>

#include "elf/elf_maker.h"
#include "elf/inflate.h"
#include "elf/symtab.h"
#include "unit.h"

static const uint8_t own_id[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };

static uint8_t *small_file(bool is64, bool big, size_t *len)
{
	struct maker m = maker_new(is64, big, EM_X86_64, ET_DYN);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, NULL, 0x100);
	maker_build_id(&m, own_id, sizeof own_id);
	unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&m, tab, "first", 0x401010, 8, STB_GLOBAL, STT_FUNC, text);
	maker_symbol(&m, tab, "second", 0x401020, 0, STB_LOCAL, STT_OBJECT, text);
	return maker_finish(&m, len);
}

TEST("sections, segments, symbols and build-id are read in both classes and byte orders")
{
	for (unsigned i = 0; i < 4; i++) {
		size_t len;
		uint8_t *file = small_file(i & 1, i & 2, &len), id[ELF_BUILD_ID_MAX];
		struct elf elf;
		EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
		EXPECT_INT(elf.is64, i & 1);
		EXPECT_INT(elf.machine, EM_X86_64);
		EXPECT_INT(elf.type, ET_DYN);
		const struct elf_section *text = elf_section(&elf, ".text");
		EXPECT(text && text->address == 0x401000 && text->size == 0x100);
		EXPECT(!elf_section(&elf, ".data"));
		EXPECT_INT(elf_section_bytes(&elf, text).len, 0x100);
		EXPECT_INT(elf.load_count, 1);
		EXPECT(elf_load_at(&elf, 0x4010ff) && !elf_load_at(&elf, 0x401100));
		EXPECT_INT(elf_build_id(&elf, id), 20);
		EXPECT(memcmp(id, own_id, 20) == 0);
		struct elf_symtab tab = elf_symtab(&elf, elf_section(&elf, ".symtab"));
		EXPECT_INT(tab.count, 3);
		struct elf_symbol symbol = elf_symtab_get(&tab, 1);
		EXPECT_STR(symbol.name, "first");
		EXPECT(symbol.value == 0x401010 && symbol.size == 8 && symbol.binding == STB_GLOBAL && symbol.type == STT_FUNC);
		EXPECT_STR(elf_symtab_get(&tab, 2).name, "second");
		elf_close(&elf);
		free(file);
	}
}

TEST("a file truncated at any byte is rejected or opens with its complete parts")
{
	size_t len;
	uint8_t *file = small_file(true, false, &len);
	for (size_t n = 0; n < len; n++) {
		uint8_t *cut = malloc(n ? n : 1), id[ELF_BUILD_ID_MAX];
		memcpy(cut, file, n);
		struct elf elf;
		if (elf_open(&elf, (struct span){ cut, n }, NULL) == 0) {
			elf_build_id(&elf, id);
			for (uint32_t i = 0; i < elf.section_count; i++) {
				struct elf_symtab tab = elf_symtab(&elf, &elf.sections[i]);
				for (uint32_t k = 0; k < tab.count; k++)
					elf_symtab_get(&tab, k);
			}
			elf_close(&elf);
		} else {
			EXPECT(n < 64);
		}
		free(cut);
	}
	free(file);
}

TEST("a file that is not ELF is rejected with an error")
{
	struct elf elf;
	struct error err = { 0 };
	static const uint8_t text[64] = "#!/bin/sh", class[64] = { 0x7f, 'E', 'L', 'F', 9, 1 };
	EXPECT_INT(elf_open(&elf, (struct span){ text, sizeof text }, &err), -1);
	EXPECT(strstr(err.text, "ELF"));
	EXPECT_INT(elf_open(&elf, (struct span){ class, sizeof class }, &err), -1);
	EXPECT_INT(elf_open(&elf, (struct span){ NULL, 0 }, &err), -1);
}

TEST("a string table without a last NUL is cut before its unterminated string")
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	maker_section(&m, ".strings", SHT_STRTAB, 0, 0, "\0one\0open", 9);
	size_t len;
	uint8_t *file = maker_finish(&m, &len);
	struct elf elf;
	EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
	EXPECT_INT(elf_strings(&elf, elf_section(&elf, ".strings")).len, 5);
	elf_close(&elf);
	free(file);
}

TEST("a build-id is found among other notes, in notes of the kernel, and truncated to 20 bytes")
{
	uint8_t notes[200] = { 5, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0, 'L', 'i', 'n', 'u', 'x', 0, 0, 0, 9, 9, 9, 0 };
	uint8_t id[ELF_BUILD_ID_MAX];
	uint8_t *p = notes + 24;
	memcpy(p, (uint8_t[]){ 4, 0, 0, 0, 24, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xaa, 0xbb }, 18);
	EXPECT_INT(elf_notes_build_id((struct span){ notes, 24 + 16 + 24 }, HOST_IS_BIG_ENDIAN, id), 20);
	EXPECT(id[0] == 0xaa && id[1] == 0xbb);
	EXPECT_INT(elf_notes_build_id((struct span){ notes, 24 + 16 + 23 }, HOST_IS_BIG_ENDIAN, id), 0);
	EXPECT_INT(elf_notes_build_id((struct span){ notes, 0 }, false, id), 0);
}

TEST("a debuglink is a file name without folder")
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *want;
	} cases[] = {
		{ "x.debug\0\1\2\3\4", 12, "x.debug" }, { "../x\0\0\0\0\1\2\3\4", 12, NULL }, { "open", 4, NULL }, { "", 0, NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
		maker_section(&m, ".gnu_debuglink", SHT_PROGBITS, 0, 0, cases[i].bytes, cases[i].len);
		size_t len;
		uint8_t *file = maker_finish(&m, &len);
		struct elf elf;
		elf_open(&elf, (struct span){ file, len }, NULL);
		uint32_t crc = 0;
		char link[16], small[7];
		EXPECT_INT(elf_debuglink(&elf, link, sizeof link, &crc), cases[i].want != NULL);
		EXPECT_STR(link, cases[i].want ? cases[i].want : "");
		EXPECT(!cases[i].want || crc == 0x04030201);
		EXPECT(!elf_debuglink(&elf, small, sizeof small, &crc) && !*small);
		elf_close(&elf);
		free(file);
	}
}

/* A compressed section: its header, then the stream. */
static size_t compressed_section(const struct maker *m, uint8_t *out, uint32_t type, uint64_t size, const void *stream, size_t len)
{
	memset(out, 0, 24);
	maker_put(m, out, type, 4);
	maker_put(m, out + 8, size, 8);
	memcpy(out + 24, stream, len);
	return 24 + len;
}

TEST("compressed sections are inflated, and rejected if their claimed size is wrong")
{
	static uint8_t plain[5000], packed[2][6000], body[6100];
	for (size_t i = 0; i < sizeof plain; i++)
		plain[i] = (uint8_t)(i % 251);
	uLongf zlib_len = sizeof packed[0];
	compress(packed[0], &zlib_len, plain, sizeof plain);
	size_t lens[] = { zlib_len, ZSTD_compress(packed[1], sizeof packed[1], plain, sizeof plain, 1) };
	for (unsigned i = 0; i < 8; i++) {
		unsigned kind = i & 1;
		uint64_t claim = i < 2 ? sizeof plain : i < 4 ? sizeof plain - 1 : i < 6 ? sizeof plain + 1 : UINT64_MAX;
		struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
		size_t body_len = compressed_section(&m, body, kind + 1, claim, packed[kind], lens[kind]), len;
		maker_section(&m, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0, body, body_len);
		uint8_t *file = maker_finish(&m, &len);
		struct elf elf;
		elf_open(&elf, (struct span){ file, len }, NULL);
		struct span bytes;
		void *owned;
		int result = elf_section_inflate(&elf, elf_section(&elf, ".debug_info"), SIZE_MAX, &bytes, &owned, NULL);
		EXPECT_INT(result, i < 2 ? 0 : -1);
		EXPECT(i < 2 ? bytes.len == sizeof plain && memcmp(bytes.data, plain, sizeof plain) == 0 : bytes.len == 0);
		EXPECT_INT(elf_section_bytes(&elf, elf_section(&elf, ".debug_info")).len, 0);
		free(owned);
		elf_close(&elf);
		free(file);
	}
}

TEST("a stream that ends early is damaged, in each format that tells its end")
{
	static uint8_t zeros[1 << 16];
	uint8_t packed[4096], *out = NULL;
	size_t size, used = ZSTD_compress(packed, sizeof packed, zeros, sizeof zeros, 3);
	struct error err = { 0 };
	EXPECT_INT(inflate_all(COMPRESSION_ZSTD, (struct span){ packed, used }, SIZE_MAX, &out, &size, &err), 0);
	EXPECT_INT(size, sizeof zeros);
	free(out);
	EXPECT(inflate_all(COMPRESSION_ZSTD, (struct span){ packed, used }, sizeof zeros - 1, &out, &size, &err) < 0);
	EXPECT_INT(err.kind, ERROR_LIMIT); /* it is larger than allowed, not damaged */
	for (size_t cut = 1; cut < used; cut++) {
		err.kind = 0;
		EXPECT(inflate_all(COMPRESSION_ZSTD, (struct span){ packed, used - cut }, SIZE_MAX, &out, &size, &err) < 0);
		EXPECT_INT(err.kind, ERROR_FORMAT);
	}
}

TEST("a stream that inflates without end stops at the limit")
{
	static uint8_t zeros[1 << 20];
	size_t room = ZSTD_compressBound(sizeof zeros), size, used = 0;
	uint8_t *bomb = malloc(room * 300), *out = NULL;
	/* a file may have several frames: each is a megabyte of zeros in a few bytes */
	for (unsigned i = 0; i < 300; i++)
		used += ZSTD_compress(bomb + used, room, zeros, sizeof zeros, 3);
	struct error err = { 0 };
	EXPECT_INT(compression_of((struct span){ bomb, used }), COMPRESSION_ZSTD);
	EXPECT_INT(inflate_all(COMPRESSION_ZSTD, (struct span){ bomb, used }, SIZE_MAX, &out, &size, &err), -1);
	EXPECT_INT(err.kind, ERROR_LIMIT);
	EXPECT(!out);
	free(bomb);
}

TEST("section indices beyond 16 bits are read from the extended table")
{
	struct maker m = maker_new(true, true, EM_PPC64, ET_DYN);
	unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&m, tab, "far", 0x10, 4, STB_GLOBAL, STT_FUNC, SHN_XINDEX);
	uint8_t indices[8] = { 0, 0, 0, 0, 0, 1, 0x11, 0x22 };
	unsigned shndx = maker_section(&m, ".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 0, indices, sizeof indices);
	m.sections[shndx].link = tab;
	size_t len;
	uint8_t *file = maker_finish(&m, &len);
	struct elf elf;
	elf_open(&elf, (struct span){ file, len }, NULL);
	struct elf_symtab table = elf_symtab(&elf, elf_section(&elf, ".symtab"));
	EXPECT_INT(elf_symtab_get(&table, 1).section, 0x11122);
	elf_close(&elf);
	free(file);
}

TEST("relocations are read with and without addends")
{
	for (unsigned i = 0; i < 4; i++) {
		bool is64 = i & 1, addends = i & 2;
		struct maker m = maker_new(is64, true, EM_PPC64, ET_DYN);
		uint8_t entry[24] = { 0 };
		unsigned word = is64 ? 8 : 4;
		maker_put(&m, entry, 0x1234, word);
		maker_put(&m, entry + word, is64 ? (uint64_t)7 << 32 | 21 : 7 << 8 | 21, word);
		maker_put(&m, entry + 2 * word, (uint64_t)-5, word);
		maker_section(&m, ".rel", addends ? SHT_RELA : SHT_REL, 0, 0, entry, word * (addends ? 3 : 2));
		size_t len;
		uint8_t *file = maker_finish(&m, &len);
		struct elf elf;
		elf_open(&elf, (struct span){ file, len }, NULL);
		struct elf_relocations rels = elf_relocations(&elf, elf_section(&elf, ".rel"));
		EXPECT_INT(rels.count, 1);
		struct elf_relocation rel = elf_relocation_get(&rels, 0);
		EXPECT(rel.offset == 0x1234 && rel.symbol == 7 && rel.type == 21);
		EXPECT_INT(rel.addend, addends ? -5 : 0);
		elf_close(&elf);
		free(file);
	}
}
