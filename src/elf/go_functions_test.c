#include "elf/go_functions.h"

#include <elf.h>
#include <stdlib.h>

#include "elf/elf_maker.h"
#include "unit.h"

enum { NAMES = 80, VALUES = 100, FUNCTIONS = 128, LENGTH = 256, TEXT = 0x401000, AT = 0x500000 };

/* Writes little-endian numbers, as in the files. */
static void put(uint8_t *bytes, size_t at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		bytes[at + i] = (uint8_t)(value >> 8 * i);
}

/* Makes one function from 0x10 to 0x60 whose frame is empty, from 0x14 on 40 bytes, from 0x50 on empty again. */
static void make(uint8_t bytes[static LENGTH], uint64_t text)
{
	static const uint8_t stack[] = { 0, 2, 4, 80, 60, 79, 16, 0 };
	const uint64_t header[] = { 1, 0, text, NAMES, 0, 0, VALUES, FUNCTIONS };
	memset(bytes, 0, LENGTH);
	put(bytes, 0, 0xfffffff1, 4);
	put(bytes, 6, 1, 1);
	put(bytes, 7, 8, 1);
	for (unsigned i = 0; i < sizeof header / sizeof *header; i++)
		put(bytes, 8 + 8 * i, header[i], 8);
	memcpy(bytes + NAMES, "\0main.main", 11);
	memcpy(bytes + VALUES + 1, stack + 1, sizeof stack - 1);
	put(bytes, FUNCTIONS, 0x10, 4);
	put(bytes, FUNCTIONS + 4, 0x20, 4);
	put(bytes, FUNCTIONS + 8, 0x60, 4);
	put(bytes, FUNCTIONS + 0x24, 1, 4);
	put(bytes, FUNCTIONS + 0x30, 1, 4);
}

struct program {
	struct elf elf;
	uint8_t *file;
};

/* Stores the table in a section of its own, or after 64 bytes of other data. */
static void open_program(struct program *p, const uint8_t bytes[static LENGTH], bool own, uint64_t relocated)
{
	struct maker m = maker_new(true, false, EM_X86_64, own ? ET_EXEC : ET_DYN);
	uint8_t data[64 + LENGTH] = { 0xf1, 0xff, 0xff, 0xff };
	const uint64_t relocations[] = { 0x1234, 8, 0x5678, AT + 64 + 24, 8, relocated };
	uint8_t relocation[sizeof relocations];
	size_t len;
	for (unsigned i = 0; i < sizeof relocations / sizeof *relocations; i++)
		put(relocation, 8 * i, relocations[i], 8);
	memcpy(data + 64, bytes, LENGTH);
	maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, NULL, 0x100);
	if (own) {
		maker_section(&m, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, AT, bytes, LENGTH);
	} else {
		maker_section(&m, ".go.buildinfo", SHT_PROGBITS, SHF_ALLOC, AT - 0x1000, "", 1);
		maker_section(&m, ".data.rel.ro", SHT_PROGBITS, SHF_ALLOC, AT, data, sizeof data);
	}
	if (relocated)
		maker_section(&m, ".rela.dyn", SHT_RELA, SHF_ALLOC, AT + 0x1000, relocation, sizeof relocation);
	p->file = maker_finish(&m, &len);
	EXPECT_INT(elf_open(&p->elf, (struct span){ p->file, len }, NULL), 0);
}

static void close_program(struct program *p)
{
	elf_close(&p->elf);
	free(p->file);
}

TEST("Go's functions have their extents, names and the frame size at each instruction")
{
	uint8_t bytes[LENGTH];
	struct program p;
	struct go_functions t;
	struct go_function f;
	struct go_stack s;
	make(bytes, TEXT);
	open_program(&p, bytes, true, 0);
	EXPECT(go_functions_open(&t, &p.elf));
	EXPECT_INT(t.count, 1);
	EXPECT(go_functions_get(&t, 0, &f));
	EXPECT(f.start == TEXT + 0x10 && f.end == TEXT + 0x60 && strcmp(f.name, "main.main") == 0);
	static const struct { uint64_t from, to; int64_t size; } runs[] = { { 0x10, 0x14, 0 }, { 0x14, 0x50, 40 }, { 0x50, 0x60, 0 } };
	go_stack_begin(&s, &t, &f);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		EXPECT(go_stack_next(&s));
		EXPECT(s.from == TEXT + runs[i].from && s.to == TEXT + runs[i].to);
		EXPECT_INT(s.size, runs[i].size);
	}
	EXPECT(!go_stack_next(&s) && !s.bytes.short_read);
	close_program(&p);
}

TEST("the table is found among other data, and a relocation gives the address of the code")
{
	uint8_t bytes[LENGTH];
	struct program p;
	struct go_functions t;
	make(bytes, 0);
	open_program(&p, bytes, false, TEXT + 0x80);
	EXPECT(go_functions_open(&t, &p.elf));
	EXPECT(t.text == TEXT + 0x80);
	close_program(&p);
	open_program(&p, bytes, false, 0); /* no better address is known */
	EXPECT(go_functions_open(&t, &p.elf));
	EXPECT(t.text == TEXT);
	close_program(&p);
}

TEST("a table truncated or changed anywhere is read within its bounds")
{
	uint8_t bytes[LENGTH];
	uint32_t dice = 7;
	for (unsigned turn = 0; turn < 3000; turn++) {
		struct program p;
		struct go_functions t;
		struct go_function f;
		struct go_stack s;
		make(bytes, TEXT);
		for (unsigned i = 0; i < 3; i++) {
			dice = dice * 1664525 + 1013904223;
			bytes[(dice >> 16) % LENGTH] = (uint8_t)(dice >> 8);
		}
		open_program(&p, bytes, turn & 1, 0);
		for (uint64_t i = 0; go_functions_open(&t, &p.elf) && i < t.count; i++) {
			if (!go_functions_get(&t, i, &f))
				continue;
			go_stack_begin(&s, &t, &f);
			while (go_stack_next(&s))
				EXPECT(s.to > s.from);
		}
		close_program(&p);
	}
}
