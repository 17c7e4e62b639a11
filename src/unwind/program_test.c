/* Call frame instructions, each byte given, and the rules that they make. */
#include "unwind/program.h"

#include "unit.h"

enum { RBP = 6, RSP = 7, RBX = 3, RA = 16, START = 0x1000, END = 0x1100 };

/* What was made of the instructions of one function. */
struct made {
	struct rule_table table;
	struct program *program;
	bool good;
};

/* Initial rules of x86-64: CFA = rsp + 8, return address below it; initial instructions more than those are in `initial`. */
static struct made made_of(enum unwind_arch arch, const struct cie *cie, const char *code, size_t len, uint64_t from, uint64_t to)
{
	struct made m = { 0 };
	struct rule_builder b;
	struct cfi_section section = { .address = 0x8000 };
	struct program *p = memory_zero(1, sizeof *p);
	p->section = &section;
	p->machine = machine_of(arch);
	p->builder = &b;
	rule_builder_init(&b, &m.table, 0);
	EXPECT(program_cie(p, cie));
	struct fde fde = { .start = START, .size = END - START };
	m.good = program_fde(p, cie, &fde, (struct span){ (const uint8_t *)code, len }, 0x40, from, to);
	rule_builder_row(&b, to, RULE_NONE);
	rule_builder_finish(&b);
	free(p);
	return m;
}

static const struct cie x86_64 = { .program = { (const uint8_t *)"\x0c\7\x08\x90\1", 5 }, .code_align = 1, .data_align = -8, .ra = RA,
	.address_size = 8 };
#define MADE(code) made_of(UNWIND_X86_64, &x86_64, code, sizeof(code) - 1, START, END)

static void expect_cfa(const struct made *m, uint64_t at, unsigned reg, int32_t value)
{
	const struct rule *rule = rule_table_find(&m->table, START + at);
	EXPECT(rule);
	if (rule) {
		EXPECT_INT(rule->cfa_kind, CFA_REGISTER);
		EXPECT_INT(rule->cfa_register, reg);
		EXPECT_INT(rule->cfa_value, value);
	}
}

/* How a register is saved at an address; kind SAVED_SAME if the rule has nothing about it. */
static struct saved saved_at(const struct made *m, uint64_t at, unsigned reg)
{
	const struct rule *rule = rule_table_find(&m->table, START + at);
	EXPECT(rule);
	if (!rule)
		return (struct saved){ .kind = 255 };
	if (reg == RBP || reg == RA)
		return reg == RBP ? rule->fp : rule->ra;
	for (unsigned i = 0; i < rule->others_count; i++)
		if (m->table.saved[rule->others + i].reg == reg)
			return m->table.saved[rule->others + i];
	return (struct saved){ .kind = SAVED_SAME };
}

static void expect_saved(const struct made *m, uint64_t at, unsigned reg, unsigned kind, unsigned base, int32_t value)
{
	struct saved saved = saved_at(m, at, reg);
	EXPECT_INT(saved.kind, kind);
	EXPECT_INT(saved.base, base);
	EXPECT_INT(saved.value, value);
}

TEST("each form of advance moves to where the next rule begins")
{
	struct made m = MADE("\x41\x0e\x10" "\x02\x02\x0e\x18" "\x03\x04\0\x0e\x20" "\x04\x08\0\0\0\x0e\x28"
		"\x1d\x10\0\0\0\0\0\0\0\x0e\x30");
	static const int32_t ends[][2] = { { 1, 8 }, { 3, 16 }, { 7, 24 }, { 15, 32 }, { 31, 40 }, { 0x100, 48 } };
	uint64_t at = 0;
	EXPECT(m.good);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		for (; at < (uint64_t)ends[i][0]; at++)
			expect_cfa(&m, at, RSP, ends[i][1]);
	EXPECT(!rule_table_find(&m.table, END));
	rule_table_fini(&m.table);
}

TEST("advances count in units of the code alignment")
{
	struct cie cie = x86_64;
	cie.code_align = 4;
	struct made m = made_of(UNWIND_X86_64, &cie, "\x41\x0e\x10" "\x02\x02\x0e\x18", 7, START, END);
	expect_cfa(&m, 3, RSP, 8);
	expect_cfa(&m, 4, RSP, 16);
	expect_cfa(&m, 11, RSP, 16);
	expect_cfa(&m, 12, RSP, 24);
	rule_table_fini(&m.table);
}

TEST("a location is set as a pointer of the CIE's encoding, and never before the last one")
{
	struct cie cie = x86_64;
	cie.encoding = 0x1b; /* 4 bytes relative to their place: the instructions begin at 0x8040 */
	struct made m = made_of(UNWIND_X86_64, &cie, "\x01\xcf\x8f\xff\xff" "\x0e\x10", 7, START, END);
	EXPECT(m.good);
	expect_cfa(&m, 0xf, RSP, 8);
	expect_cfa(&m, 0x10, RSP, 16);
	rule_table_fini(&m.table);
	m = made_of(UNWIND_X86_64, &cie, "\x48\x01\xc2\x8f\xff\xff" "\x0e\x10", 8, START, END); /* 4 where 8 was */
	EXPECT(!m.good);
	expect_cfa(&m, 7, RSP, 8);
	EXPECT(!rule_table_find(&m.table, START + 8));
	rule_table_fini(&m.table);
	cie.encoding = 0x07;
	m = made_of(UNWIND_X86_64, &cie, "\x01\xcf\x8f\xff\xff", 5, START, END);
	EXPECT(!m.good);
	rule_table_fini(&m.table);
}

TEST("the CFA is a register and an offset, each of which may change alone")
{
	struct made m = MADE("\x41\x0c\3\x10" "\x41\x0d\6" "\x41\x0e\x90\1" "\x41\x13\x7f" "\x41\x12\3\x7e" "\x41\x0d\7");
	EXPECT(m.good);
	expect_cfa(&m, 1, RBX, 16);
	expect_cfa(&m, 2, RBP, 16);
	expect_cfa(&m, 3, RBP, 144);
	expect_cfa(&m, 4, RBP, 8);
	expect_cfa(&m, 5, RBX, 16);
	expect_cfa(&m, 6, RSP, 16);
	rule_table_fini(&m.table);
}

TEST("registers are saved at, or are, an offset from the CFA, in another register, or undefined")
{
	struct made m = MADE("\x0e\x80\1" "\x83\2" "\x86\3" "\x05\x0c\4" "\x11\x0d\x7b" "\x2f\x0e\5" "\x14\x0f\2" "\x15\1\x7f" "\x09\2\3"
		"\x07\4" "\x09\5\x11");
	EXPECT(m.good);
	expect_saved(&m, 0, RBX, SAVED_AT_CFA, 0, -16);
	expect_saved(&m, 0, RBP, SAVED_AT_CFA, 0, -24);
	expect_saved(&m, 0, 12, SAVED_AT_CFA, 0, -32);
	expect_saved(&m, 0, 13, SAVED_AT_CFA, 0, 40);
	expect_saved(&m, 0, 14, SAVED_AT_CFA, 0, 40);
	expect_saved(&m, 0, 15, SAVED_IS_CFA, 0, -16);
	expect_saved(&m, 0, 1, SAVED_IS_CFA, 0, 8);
	expect_saved(&m, 0, 2, SAVED_IN_REGISTER, 3, 0);
	expect_saved(&m, 0, 4, SAVED_UNDEFINED, 0, 0);
	expect_saved(&m, 0, 5, SAVED_UNDEFINED, 0, 0); /* in a register that is not tracked */
	expect_saved(&m, 0, RA, SAVED_AT_CFA, 0, -8);
	rule_table_fini(&m.table);
}

TEST("registers are restored to the initial rules, in both forms, and stay as they are by the rule for that")
{
	struct made m = MADE("\x0e\x40" "\x83\2" "\x8c\3" "\x90\4" "\x41\xc3" "\x41\x06\x0c" "\x41\xd0" "\x41\x8c\2\x41\x08\x0c");
	EXPECT(m.good);
	expect_saved(&m, 0, RBX, SAVED_AT_CFA, 0, -16);
	expect_saved(&m, 0, RA, SAVED_AT_CFA, 0, -32);
	expect_saved(&m, 1, RBX, SAVED_SAME, 0, 0);
	expect_saved(&m, 1, 12, SAVED_AT_CFA, 0, -24);
	expect_saved(&m, 2, 12, SAVED_SAME, 0, 0);
	expect_saved(&m, 2, RA, SAVED_AT_CFA, 0, -32);
	expect_saved(&m, 3, RA, SAVED_AT_CFA, 0, -8);
	expect_saved(&m, 4, 12, SAVED_AT_CFA, 0, -16);
	expect_saved(&m, 5, 12, SAVED_SAME, 0, 0);
	rule_table_fini(&m.table);
}

TEST("states are remembered in a stack, which has room for 64")
{
	char code[2 * 65 + 8];
	struct made m = MADE("\x0a\x41\x0e\x10\x83\2\x0a\x41\x0e\x20\x41\x0b\x41\x0b");
	EXPECT(m.good);
	expect_cfa(&m, 1, RSP, 16);
	expect_cfa(&m, 2, RSP, 32);
	expect_cfa(&m, 3, RSP, 16);
	expect_saved(&m, 3, RBX, SAVED_AT_CFA, 0, -16);
	expect_cfa(&m, 4, RSP, 8);
	expect_saved(&m, 4, RBX, SAVED_SAME, 0, 0);
	rule_table_fini(&m.table);
	memset(code, 0x0a, sizeof code);
	m = made_of(UNWIND_X86_64, &x86_64, code, 64, START, END);
	EXPECT(m.good);
	rule_table_fini(&m.table);
	m = made_of(UNWIND_X86_64, &x86_64, code, 65, START, END);
	EXPECT(!m.good);
	rule_table_fini(&m.table);
}

TEST("expressions of usual forms become registers and offsets, others are stored")
{
	/* CFA: rsp + 16; rbx at rsp + 8; r12 = *(rbp - 8), a value; CFA: *(rsp + 8) */
	struct made m = MADE("\x0f\2\x77\x10" "\x10\3\2\x77\x08" "\x16\x0c\3\x76\x78\x06" "\x41\x0f\3\x77\x08\x06"
		"\x41\x0f\3\x77\x08\x19" "\x16\3\2\x77\x08");
	EXPECT(m.good);
	expect_cfa(&m, 0, RSP, 16);
	expect_saved(&m, 0, RBX, SAVED_AT_REGISTER, RSP, 8);
	expect_saved(&m, 0, 12, SAVED_AT_REGISTER, RBP, -8);
	EXPECT_INT(rule_table_find(&m.table, START + 1)->cfa_kind, CFA_LOAD);
	EXPECT_INT(rule_table_find(&m.table, START + 1)->cfa_value, 8);
	EXPECT_INT(rule_table_find(&m.table, START + 1)->cfa_register, RSP);
	EXPECT_INT(rule_table_find(&m.table, START + 2)->cfa_kind, CFA_EXPRESSION);
	EXPECT_INT(saved_at(&m, 2, RBX).kind, SAVED_IS_EXPRESSION);
	struct span stored = rule_expression(&m.table, rule_table_find(&m.table, START + 2)->cfa_value);
	EXPECT(stored.len == 3 && memcmp(stored.data, "\x77\x08\x19", 3) == 0);
	stored = rule_expression(&m.table, saved_at(&m, 2, RBX).value);
	EXPECT(stored.len == 2 && memcmp(stored.data, "\x77\x08", 2) == 0);
	rule_table_fini(&m.table);
}

TEST("instructions that need what is not there, and unknown ones, end the rules where they are")
{
	static const struct { const char *code; size_t len; } rows[] = {
		{ "\x41\x3f", 2 }, { "\x41\x1c", 2 }, { "\x41\x0b", 2 }, { "\x41\x0f\5\x77\x08", 5 }, { "\x41\x0f\3\x77\x08\x19\x0e\x10",
			8 },
		{ "\x41\x0f\3\x77\x08\x19\x0d\6", 8 }, { "\x41\x0f\3\x77\x08\x19\x13\1", 8 }, { "\x41\x0c\x80\2\x08", 5 }, {
			"\x41\x0e\x80\x80\x80\x80\x08", 7 },
		{ "\x41\x05\3\x80\x80\x80\x80\x08", 8 }, { "\x41\x10\3\5\x77", 5 }, { "\x41\x1d\xf8\xff\xff\xff\xff\xff\xff\xff", 10 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct made m = made_of(UNWIND_X86_64, &x86_64, rows[i].code, rows[i].len, START, END);
		if (m.good || !rule_table_find(&m.table, START) || rule_table_find(&m.table, START + 1))
			unit_fail(__FILE__, __LINE__, "row %zu is accepted", i);
		rule_table_fini(&m.table);
	}
}

TEST("rows are those of the wanted part, whose first one is the state at its start")
{
	static const char code[] = "\x48\x0e\x10\x48\x0e\x18\x48\x83\2\x48\x0e\x20\x48\x0e\x08";
	for (uint64_t from = 0; from < 0x28; from++) {
		struct made m = made_of(UNWIND_X86_64, &x86_64, code, sizeof code - 1, START + from, START + from + 9);
		EXPECT(m.good);
		EXPECT(from == 0 || !rule_table_find(&m.table, START + from - 1));
		EXPECT(!rule_table_find(&m.table, START + from + 9));
		for (uint64_t at = from; at < from + 9; at++) {
			static const int32_t values[] = { 8, 16, 24, 24, 32, 8, 8 };
			expect_cfa(&m, at, RSP, values[at / 8]);
			expect_saved(&m, at, RBX, at >= 0x18 && at < 0x28 ? SAVED_AT_CFA : SAVED_SAME, 0, at >= 0x18 &&
				at < 0x28 ? -16 : 0);
		}
		rule_table_fini(&m.table);
	}
}

TEST("a register that was pushed and is popped again has its value, and one in the red zone as well")
{
	/* push rbx; pop rbx; then only the offset of the CFA is restored */
	struct made m = MADE("\x41\x0e\x10\x83\2\x44\x0e\x08");
	expect_saved(&m, 1, RBX, SAVED_AT_CFA, 0, -16);
	expect_saved(&m, 5, RBX, SAVED_SAME, 0, 0);
	rule_table_fini(&m.table);
	m = MADE("\x41\x83\2\x44\x8c\3"); /* stored below the stack pointer, which does not move */
	expect_saved(&m, 1, RBX, SAVED_AT_CFA, 0, -16);
	expect_saved(&m, 5, RBX, SAVED_AT_CFA, 0, -16);
	expect_saved(&m, 5, 12, SAVED_AT_CFA, 0, -24);
	rule_table_fini(&m.table);
	m = MADE("\x41\x0c\6\x10\x83\3\x44\x0c\7\x08"); /* by the frame pointer */
	expect_saved(&m, 1, RBX, SAVED_AT_CFA, 0, -24);
	expect_saved(&m, 5, RBX, SAVED_SAME, 0, 0);
	rule_table_fini(&m.table);
}

TEST("a return address that is undefined has no caller, and flags are those of the CIE and of the state")
{
	struct cie cie = x86_64;
	struct made m = MADE("\x41\x07\x10");
	EXPECT_INT(rule_table_find(&m.table, START)->flags, RULE_SIMPLE);
	EXPECT_INT(rule_table_find(&m.table, START + 1)->flags, RULE_BOTTOM);
	rule_table_fini(&m.table);
	cie.signal = true;
	m = made_of(UNWIND_X86_64, &cie, "", 0, START, END);
	EXPECT_INT(rule_table_find(&m.table, START)->flags, RULE_SIGNAL);
	rule_table_fini(&m.table);
	m = MADE("\x2d"); /* of AArch64 alone */
	EXPECT_INT(rule_table_find(&m.table, START)->flags, RULE_SIMPLE);
	rule_table_fini(&m.table);
	m = MADE("\x87\2"); /* the stack pointer of the caller is not the CFA */
	EXPECT_INT(rule_table_find(&m.table, START)->flags, 0);
	rule_table_fini(&m.table);
	cie.ra = 15;
	m = made_of(UNWIND_X86_64, &cie, "", 0, START, END);
	EXPECT(m.good && !rule_table_find(&m.table, START));
	rule_table_fini(&m.table);
}

TEST("AArch64: return addresses are signed from one instruction to the next one")
{
	static const struct cie cie = { .program = { (const uint8_t *)"\x0c\x1f\0", 3 }, .code_align = 4, .data_align = -8, .ra = 30,
		.address_size = 8 };
	struct made m = made_of(UNWIND_AARCH64, &cie, "\x41\x2d\x41\x2c\x41\x0e\x10\x9d\2\x9e\1", 11, START, END);
	EXPECT(m.good);
	EXPECT_INT(rule_table_find(&m.table, START)->flags, 0);
	EXPECT_INT(rule_table_find(&m.table, START + 4)->flags, RULE_SIGNED);
	EXPECT_INT(rule_table_find(&m.table, START + 8)->flags, 0);
	EXPECT_INT(rule_table_find(&m.table, START + 12)->flags, RULE_SIMPLE);
	EXPECT_INT(rule_table_find(&m.table, START + 12)->fp.value, -16);
	EXPECT_INT(rule_table_find(&m.table, START + 12)->ra.value, -8);
	rule_table_fini(&m.table);
}

TEST("instructions that change no rule are passed with their operands")
{
	struct made m = MADE("\0\0\x2e\x90\1\x41\x0e\x10\0");
	EXPECT(m.good);
	expect_cfa(&m, 0, RSP, 8);
	expect_cfa(&m, 1, RSP, 16);
	rule_table_fini(&m.table);
}
