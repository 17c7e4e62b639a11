/* Where code follows a call: pieces of code in a file that has them alone. */
#include "unwind/calls.h"

#include <elf.h>

#include "base/memory.h"
#include "unit.h"

enum { LINKED = 0x1000, OFFSET = 0x20, SIZE = 0x60, TARGET = 0x40 }; /* TARGET: offset in the code of what is called */

/* The code of a test at `LINKED`, with rules for what is at TARGET if `ruled`. */
struct place {
	uint8_t bytes[OFFSET + SIZE];
	struct elf_load loads[2];
	struct elf elf;
	struct rule_table table;
	struct call_map *map;
};

static void place_open(struct place *p, enum unwind_arch arch, const void *code, size_t len, const void *target, size_t target_len,
	bool ruled)
{
	struct rule_builder b;
	*p = (struct place){ .table.arch = arch };
	memset(p->bytes, 0x90, sizeof p->bytes);
	memcpy(p->bytes + OFFSET, code, len);
	memcpy(p->bytes + OFFSET + TARGET, target, target_len);
	p->loads[0] = (struct elf_load){ .flags = PF_R, .offset = 0, .vaddr = 0, .file_size = OFFSET };
	p->loads[1] = (struct elf_load){ .flags = PF_R | PF_X, .offset = OFFSET, .vaddr = LINKED, .file_size = SIZE };
	p->elf = (struct elf){ .bytes = { p->bytes, sizeof p->bytes }, .is64 = true, .loads = p->loads, .load_count = 2 };
	rule_builder_init(&b, &p->table, 0);
	if (ruled) {
		struct rule rule = { .cfa_value = 8, .cfa_register = 7 };
		rule_builder_row(&b, LINKED + TARGET, rule_builder_rule(&b, &rule, NULL, 0));
		rule_builder_row(&b, LINKED + SIZE, RULE_NONE);
	}
	rule_builder_finish(&b);
	p->map = call_map_new(&p->elf, &p->table);
}

static void place_close(struct place *p)
{
	call_map_free(p->map);
	rule_table_fini(&p->table);
}

/* Of which offsets in the code the map says that they follow a call: one of 64 bits each. */
static uint64_t marks_of(const struct place *p)
{
	uint64_t marks = 0;
	for (unsigned i = 0; i < 64; i++)
		marks |= (uint64_t)call_map_has(p->map, OFFSET + i) << i;
	return marks;
}

/* The marks of code that is called without rules, at TARGET. */
static uint64_t marks_made(enum unwind_arch arch, const char *code, size_t len, const char *target, size_t target_len, bool ruled)
{
	struct place p;
	place_open(&p, arch, code, len, target, target_len, ruled);
	uint64_t marks = marks_of(&p);
	EXPECT(!call_map_has(p.map, OFFSET - 1) && !call_map_has(p.map, OFFSET + SIZE) && !call_map_has(p.map, 0));
	place_close(&p);
	return marks;
}
#define MARKS(arch, code, target, ruled) marks_made(arch, code, sizeof(code) - 1, target, sizeof(target) - 1, ruled)
#define AT(offset) ((uint64_t)1 << (offset))

TEST("what follows a call of code without rules is marked, and what follows a call of code with rules is not")
{
	/* at 2: call TARGET, at 8: the same */
	static const char code[] = "\x90\x90\xe8\x39\0\0\0\x90\xe8\x33\0\0\0";
	EXPECT_INT(MARKS(UNWIND_X86_64, code, "\x55", false), AT(7) | AT(13));
	EXPECT_INT(MARKS(UNWIND_X86_64, code, "\x55", true), 0);
	EXPECT_INT(MARKS(UNWIND_X86_64, "\xe8\x3b\x10\0\0", "\x55", false), 0); /* beyond the code */
	EXPECT_INT(MARKS(UNWIND_X86_64, "\xe8\xfa\xff\xff\xff\xcc", "\x55", false), 0); /* before it */
	EXPECT_INT(MARKS(UNWIND_X86_64, "\x90\xe8\xfa\xff\xff\xff\xcc", "\x55", false), AT(6)); /* its first byte */
}

TEST("x86: a function with rules that only jumps to another one may lead to code without rules")
{
	static const struct { const char *bytes; size_t len; bool jumps; } rows[] = {
		{ "\xe9\0\0\0\0", 5, true }, { "\xeb\0", 2, true }, { "\xff\x25\0\0\0\0", 6, true }, { "\xff\xe0", 2, true }, {
			"\xff\xd0", 2, false },
		{ "\xff\x35\0\0\0\0", 6, false }, { "\xf3\x0f\x1e\xfa\xe9\0\0\0\0", 9, true }, { "\xf3\x0f\x1e\xfb\xff\x25", 6, true },
		{ "\xf3\x0f\x1e\xfc\xe9\0\0\0\0", 9, false }, { "\xf2\xff\x25\0\0\0\0", 7, true }, { "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7,
			true },
		{ "\x68\0\0\0\0\xe9\0\0\0\0", 10, true }, { "\x68\0\0\0\0\xf2\xe9\0\0\0", 10, true }, { "\x68\0\0\0\0\x90", 6, false },
		{ "\xf3\x0f\x1e\xfa\x68\0\0\0\0\xe9\0\0\0\0", 14, true }, { "\x55", 1, false }, { "\x90\xe9\0\0\0\0", 6, false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t marks = marks_made(UNWIND_X86_64, "\xe8\x3b\0\0\0", 5, rows[i].bytes, rows[i].len, true);
		if (marks != (rows[i].jumps ? AT(5) : 0))
			unit_fail(__FILE__, __LINE__, "row %zu: marks %llx", i, (unsigned long long)marks);
	}
}

TEST("x86: what follows an indirect call is marked, whatever the length of its address")
{
	static const struct { const char *bytes; size_t len, end; } rows[] = {
		{ "\xff\xd0", 2, 2 }, { "\xff\xd7", 2, 2 }, { "\xff\x10", 2, 2 }, { "\xff\x50\x08", 3, 3 }, { "\xff\x90\0\1\0\0", 6, 6 },
		{ "\xff\x15\0\1\0\0", 6, 6 }, { "\xff\x14\x24", 3, 3 }, { "\xff\x14\x25\0\0\0\0", 7, 7 }, { "\xff\x54\x24\x08", 4, 4 },
		{ "\xff\x94\x24\0\1\0\0", 7, 7 }, { "\xff\x14\xc5\0\0\0\0", 7, 7 }, { "\xff\x20", 2, 0 }, { "\xff\x08", 2, 0 }, {
			"\xff\x18", 2, 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t marks = marks_made(UNWIND_X86_64, rows[i].bytes, rows[i].len, "\x55", 1, true);
		if (marks != (rows[i].end ? AT(rows[i].end) : 0))
			unit_fail(__FILE__, __LINE__, "row %zu: marks %llx", i, (unsigned long long)marks);
	}
}

TEST("a call that nothing follows is not marked")
{
	struct place p;
	uint8_t code[SIZE];
	memset(code, 0x90, sizeof code);
	memcpy(code + SIZE - 2, "\xff\xd0", 2);
	place_open(&p, UNWIND_X86_64, code, sizeof code, code + TARGET, SIZE - TARGET, false);
	EXPECT_INT(marks_of(&p), 0);
	EXPECT(!call_map_has(p.map, OFFSET + SIZE));
	place_close(&p);
	memcpy(code + SIZE - 3, "\xff\xd0", 2);
	place_open(&p, UNWIND_X86_64, code, sizeof code, code + TARGET, SIZE - TARGET, false);
	EXPECT(call_map_has(p.map, OFFSET + SIZE - 1));
	place_close(&p);
}

TEST("i386: the target of a call is within 32 bits")
{
	EXPECT_INT(MARKS(UNWIND_X86, "\xe8\x3b\0\0\0", "\x55", false), AT(5));
	EXPECT_INT(MARKS(UNWIND_X86, "\x90\xe8\xfa\xff\xff\xff\xcc", "\x55", false), AT(6));
}

TEST("AArch64: what follows bl and blr is marked, at whole instructions")
{
	/* nop; bl TARGET; blr x0; blraaz x0; ret; bl TARGET + 4 backwards */
	static const char code[] = "\x1f\x20\x03\xd5" "\x0f\0\0\x94" "\0\0\x3f\xd6" "\x1f\x08\x3f\xd6" "\xc0\x03\x5f\xd6"
		"\xfb\xff\xff\x97";
	EXPECT_INT(MARKS(UNWIND_AARCH64, code, "\xfd\x7b\xbf\xa9", true), AT(12) | AT(16) | AT(24));
	EXPECT_INT(MARKS(UNWIND_AARCH64, code, "\xfd\x7b\xbf\xa9", false), AT(8) | AT(12) | AT(16) | AT(24));
}

TEST("AArch64: a function with rules that only jumps to another one may lead to code without rules")
{
	static const struct { const char *bytes; size_t len; bool jumps; } rows[] = {
		{ "\0\0\0\x14", 4, true }, { "\x10\0\0\x90", 4, true }, { "\x10\0\0\xb0", 4, true }, { "\x11\0\0\x90", 4, false },
		{ "\x5f\x24\x03\xd5\0\0\0\x14", 8, true }, { "\x5f\x24\x03\xd5\x10\0\0\x90", 8, true }, {
			"\x5f\x24\x03\xd5\x1f\x20\x03\xd5", 8, false },
		{ "\x1f\x20\x03\xd5\0\0\0\x14", 8, false }, { "\0\0\0\x94", 4, false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t marks = marks_made(UNWIND_AARCH64, "\x10\0\0\x94", 4, rows[i].bytes, rows[i].len, true);
		if (marks != (rows[i].jumps ? AT(4) : 0))
			unit_fail(__FILE__, __LINE__, "row %zu: marks %llx", i, (unsigned long long)marks);
	}
}

TEST("segments that are not executable or exceed the file have no calls, and no file has none")
{
	struct place p;
	place_open(&p, UNWIND_X86_64, "\xff\xd0", 2, "", 0, false);
	EXPECT_INT(p.map->count, 1);
	call_map_free(p.map);
	p.loads[1].flags = PF_R;
	p.map = call_map_new(&p.elf, &p.table);
	EXPECT_INT(p.map->count, 0);
	EXPECT(!call_map_has(p.map, OFFSET + 2));
	call_map_free(p.map);
	p.loads[1].flags = PF_X;
	p.loads[1].file_size = SIZE + 1;
	p.map = call_map_new(&p.elf, &p.table);
	EXPECT_INT(p.map->count, 0);
	call_map_free(p.map);
	p.map = call_map_new(NULL, &p.table);
	EXPECT_INT(p.map->count, 0);
	place_close(&p);
}
