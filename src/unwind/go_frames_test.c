#include "unwind/go_frames.h"

#include "elf/elf_maker.h"
#include "unit.h"
#include "unwind/compile.h"

enum { NAMES = 80, VALUES = 100, FUNCTIONS = 128, LENGTH = 256, TEXT = 0x401000, AT = 0x500000 };

/* Compiles a function from 0x10 to 0x60 whose frame is empty, from 0x14 on 48 bytes, from 0x50 on empty again; sizes are known up to
 * 0x5c. */
static void compile_code(struct rule_table *table, uint16_t machine, bool debug_frames, const uint8_t text[static 0x100])
{
	static const uint8_t zeros[4] = { 0 };
	unsigned step = machine == EM_AARCH64 ? 4 : 1;
	const uint8_t stack[] = { 2, (uint8_t)(4 / step), 96, (uint8_t)(60 / step), 95, (uint8_t)(12 / step), 0 };
	const uint64_t header[] = { 1, 0, TEXT, NAMES, 0, 0, VALUES, FUNCTIONS };
	uint8_t bytes[LENGTH] = { 0xf1, 0xff, 0xff, 0xff, 0, 0, (uint8_t)step, 8 };
	const uint32_t words[] = { 0x10, 0x20, 0x60 };
	struct maker m = maker_new(true, false, machine, ET_EXEC);
	struct elf elf;
	size_t len;
	memcpy(bytes + 8, header, sizeof header);
	memcpy(bytes + VALUES + 1, stack, sizeof stack);
	memcpy(bytes + FUNCTIONS, words, sizeof words);
	bytes[FUNCTIONS + 0x30] = 1;
	maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, text, 0x100);
	maker_section(&m, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, AT, bytes, LENGTH);
	if (debug_frames)
		maker_section(&m, ".debug_frame", SHT_PROGBITS, 0, 0, zeros, sizeof zeros);
	uint8_t *file = maker_finish(&m, &len);
	EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
	EXPECT_INT(rules_compile(&elf, NULL, NULL, table, NULL), 0);
	elf_close(&elf);
	free(file);
}

static void compile_go(struct rule_table *table, uint16_t machine, bool debug_frames)
{
	uint8_t text[0x100];
	memset(text, 0x90, sizeof text);
	compile_code(table, machine, debug_frames, text);
}

/* Its last 16 bytes are padding of the linker. */
static void compile_padded(struct rule_table *table, uint16_t machine)
{
	uint8_t text[0x100];
	memset(text, 0x90, sizeof text);
	memset(text + 0x50, machine == EM_AARCH64 ? 0 : 0xcc, 0x10);
	compile_code(table, machine, false, text);
}

TEST("Go without debug information, x86-64: the return address is above the function's frame")
{
	static const struct { unsigned at; int32_t cfa; } rows[] = {
		{ 0x10, 8 }, { 0x13, 8 }, { 0x14, 56 }, { 0x4f, 56 }, { 0x50, 8 }, { 0x5b, 8 },
	};
	struct rule_table table;
	compile_go(&table, EM_X86_64, false);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct rule *rule = rule_table_find(&table, TEXT + rows[i].at);
		EXPECT(rule && rule->flags & RULE_SIMPLE && rule->ra.kind == SAVED_AT_CFA && rule->ra.value == -8);
		EXPECT_INT(rule ? rule->cfa_value : 0, rows[i].cfa);
	}
	EXPECT(!rule_table_find(&table, TEXT + 0x0f) && !rule_table_find(&table, TEXT + 0x5c));
	EXPECT(table.has_info);
	rule_table_fini(&table);
}

TEST("Go without debug information, AArch64: the return address is at the bottom of the frame, or in its register")
{
	struct rule_table table;
	compile_go(&table, EM_AARCH64, false);
	const struct rule *bare = rule_table_find(&table, TEXT + 0x10), *holding = rule_table_find(&table, TEXT + 0x14);
	EXPECT(bare && bare->ra.kind == SAVED_SAME && bare->cfa_value == 0);
	EXPECT(holding && holding->ra.kind == SAVED_AT_CFA && holding->ra.value == -48 && holding->cfa_value == 48);
	rule_table_fini(&table);
}

TEST("Go without debug information: padding is no part of a function: a return to the next function's start belongs to the next")
{
	struct rule_table table;
	compile_padded(&table, EM_X86_64);
	EXPECT(rule_table_find(&table, TEXT + 0x4f) && !rule_table_find(&table, TEXT + 0x50));
	rule_table_fini(&table);
	compile_padded(&table, EM_AARCH64);
	EXPECT(rule_table_find(&table, TEXT + 0x4f) && !rule_table_find(&table, TEXT + 0x50));
	rule_table_fini(&table);
}

TEST("Go with debug information: the call frame information of its linker is used")
{
	struct rule_table table;
	compile_go(&table, EM_X86_64, true);
	EXPECT(!rule_table_find(&table, TEXT + 0x14));
	rule_table_fini(&table);
}
