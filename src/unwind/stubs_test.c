#include "unwind/stubs.h"

#include "stored.h"
#include "unit.h"
#include "unwind/cfi_maker.h"

enum { CODE_SIZE = 0x80 };

TEST("x86-64: a signal trampoline without call frame information restores the registers that the kernel saved")
{
	static const uint8_t ways[2][9] = { { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 } };
	for (unsigned way = 0; way < 2; way++) {
		struct cfi_maker m = { .arch = UNWIND_X86_64 };
		struct scene s;
		uint8_t code[CODE_SIZE] = { 0 };
		memcpy(code + 0x40, ways[way], sizeof ways[way]);
		cfi_cie_made(&m, "zR");
		cfi_fde_made(&m, 0x10, 0x10, CFI(0));
		cfi_fde_made(&m, 0x80, 0x10, CFI(0x0c, 3, 16)); /* its CFA depends on rbx */
		cfi_fde_made(&m, 0xa0, 0x10, CFI(0x07, 16));
		scene_open(&s, &m, code, sizeof code);
		scene_register(&s, 7, s.input.stack_address);
		scene_word(&s, 0, s.code + 0x40);                  /* the handler returns to the trampoline */
		scene_word(&s, 8 + 128, s.input.stack_address + 0x200); /* rbx */
		scene_word(&s, 8 + 160, s.input.stack_address + 0x300); /* rsp */
		scene_word(&s, 8 + 168, s.code + 0x80);            /* rip: at the function's first instruction */
		scene_word(&s, 0x208, s.code + 0xa8);
		scene_run(&s, s.code + 0x18);
		EXPECT_INT(s.result.count, 4);
		EXPECT_INT(s.result.end, UNWIND_COMPLETE);
		EXPECT(s.frames[1].signal && s.frames[2].pc == s.code + 0x80 && s.frames[3].pc == s.code + 0xa8);
		EXPECT_INT(s.result.guessed, 0);
		scene_close(&s);
	}
}

/* begin: of the trampoline's own rules */
static void expect_signal_of_aarch64(unsigned begin)
{
	static const uint8_t trampoline[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	enum { REGISTERS = 128 + 176 + 8 };
	struct cfi_maker m = { .arch = UNWIND_AARCH64 };
	struct scene s;
	uint8_t code[CODE_SIZE] = { 0 };
	memcpy(code + 0x40, trampoline, sizeof trampoline);
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0));
	cfi_fde_made(&m, begin, 0x50 - begin, CFI(0x9d, 0, 0x9e, 0)); /* as in older kernels: loses the interrupted frame */
	cfi_fde_made(&m, 0x80, 0x10, CFI(0));                /* an interrupted leaf */
	cfi_fde_made(&m, 0xa0, 0x10, CFI(0x07, 30));
	scene_open(&s, &m, code, sizeof code);
	scene_register(&s, 31, s.input.stack_address);
	scene_register(&s, 29, 0);
	scene_register(&s, 30, s.code + 0x40);
	scene_word(&s, REGISTERS + 30 * 8, s.code + 0xa8);
	scene_word(&s, REGISTERS + 31 * 8, s.input.stack_address + 0x300);
	scene_word(&s, REGISTERS + 32 * 8, s.code + 0x84);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 4);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	EXPECT(s.frames[1].signal && s.frames[2].pc == s.code + 0x84 && s.frames[3].pc == s.code + 0xa8);
	scene_close(&s);
}

TEST("AArch64: the kernel's signal trampoline restores pc and link register, whatever its own rules are")
{
	expect_signal_of_aarch64(0x30);
	expect_signal_of_aarch64(0x3f); /* where the trampoline's rules begin, too */
}

TEST("after the system call that creates a thread, the creator returns, and the new thread begins")
{
	/* of x86-64: syscall; test; jl; jz; ret. Of i386: int $0x80; pop edi, esi, ebx; test; jl; jz; ret */
	static const uint8_t ways[2][16] = {
		{ 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, 0x13, 0x74, 0x01, 0xc3 },
		{ 0xcd, 0x80, 0x5f, 0x5e, 0x5b, 0x85, 0xc0, 0x7c, 0x31, 0x74, 0x01, 0xc3 },
	};
	for (unsigned i386 = 0; i386 < 2; i386++) {
		struct cfi_maker m = { .arch = i386 ? UNWIND_X86 : UNWIND_X86_64 };
		unsigned word = i386 ? 4 : 8, end = i386 ? 0x4c : 0x4a, sp = i386 ? 4 : 7;
		struct scene s;
		uint8_t code[CODE_SIZE] = { 0 };
		memcpy(code + 0x40, ways[i386], sizeof ways[i386]);
		cfi_cie_made(&m, "zR");
		cfi_fde_made(&m, 0x30, 0x12, CFI(0));
		cfi_fde_made(&m, end, 0x10, CFI(0x07, i386 ? 8 : 16));
		cfi_fde_made(&m, 0x60, 0x10, CFI(0x07, i386 ? 8 : 16));
		scene_open(&s, &m, code, sizeof code);
		scene_register(&s, 0, 1234);
		scene_register(&s, sp, s.input.stack_address);
		for (unsigned at = 0x42; at < end; at++) {
			unsigned pushed = i386 && at < 0x45 ? 0x45 - at : 0;
			memset(s.stack, 0, sizeof s.stack);
			scene_word(&s, pushed * word, s.code + 0x68);
			scene_run(&s, s.code + at);
			EXPECT_INT(s.result.count, 2);
			EXPECT_INT(s.result.end, UNWIND_COMPLETE);
			EXPECT_INT(s.result.guessed, 0);
			EXPECT(s.frames[1].pc == s.code + 0x68);
		}
		scene_register(&s, 0, 0);
		scene_run(&s, s.code + 0x42);
		EXPECT_INT(s.result.count, 1);
		EXPECT_INT(s.result.end, UNWIND_COMPLETE);
		scene_close(&s);
	}
}

TEST("i386: a position-independence thunk has pushed nothing, even without rules")
{
	static const uint8_t thunk[] = { 0x8b, 0x1c, 0x24, 0xc3 };
	struct cfi_maker m = { .arch = UNWIND_X86 };
	struct scene s;
	uint8_t code[CODE_SIZE] = { 0 };
	memcpy(code + 0x40, thunk, sizeof thunk);
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0));
	cfi_fde_made(&m, 0x60, 0x10, CFI(0x07, 8));
	scene_open(&s, &m, code, sizeof code);
	scene_register(&s, 4, s.input.stack_address);
	scene_register(&s, 5, 0x1234); /* ebp is not a frame pointer */
	scene_word(&s, 0, s.code + 0x68);
	for (unsigned at = 0x40; at <= 0x43; at += 3) {
		scene_run(&s, s.code + at);
		EXPECT_INT(s.result.count, 2);
		EXPECT_INT(s.result.end, UNWIND_COMPLETE);
		EXPECT(s.frames[1].pc == s.code + 0x68);
	}
	scene_run(&s, s.code + 0x44);
	EXPECT_INT(s.result.count, 1);
	scene_close(&s);
}

static void expect_plt(const uint8_t *entry, size_t entry_len, unsigned threshold)
{
	struct rule_table table;
	struct elf elf;
	uint8_t plt[64] = { 0 }, text[16] = { 0 };
	size_t len;
	for (unsigned at = 16; at < sizeof plt; at += 16)
		memcpy(plt + at, entry, entry_len);
	struct maker maker = maker_new(true, false, EM_X86_64, ET_DYN);
	maker_section(&maker, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, text, sizeof text);
	maker_section(&maker, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, plt, sizeof plt);
	maker_section(&maker, ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x3000, plt, sizeof plt);
	uint8_t *file = maker_finish(&maker, &len);
	EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
	EXPECT_INT(rules_compile(&elf, NULL, NULL, &table, NULL), 0);
	const struct rule *first = rule_table_find(&table, 0x2008), *lazy = rule_table_find(&table, 0x2018),
		*plain = rule_table_find(&table, 0x3018);
	EXPECT(first && first->cfa_kind == CFA_PLT && first->cfa_value == 16);
	EXPECT(lazy && lazy->cfa_kind == CFA_PLT && lazy->cfa_value == 8 && lazy->threshold == threshold);
	EXPECT(plain && plain->cfa_value == 8 && plain->threshold == 16);
	EXPECT(!rule_table_find(&table, 0x1008));
	rule_table_fini(&table);
	elf_close(&elf);
	free(file);
}

TEST("PLT entries without rules have the stack layout of their kind")
{
	static const uint8_t lazy[] = { 0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9 }, marked[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x68 };
	expect_plt(lazy, sizeof lazy, 11);
	expect_plt(marked, sizeof marked, 9);
}

static void add_saved(struct str *to, const char *name, const struct saved *saved)
{
	str_printf(to, " %s%u:%u@%u%+d", name, saved->reg, saved->kind, saved->base, saved->value);
}

TEST("the rule of each kind of stub is as stored, for each architecture")
{
	static const enum unwind_arch archs[] = { UNWIND_X86_64, UNWIND_X86, UNWIND_AARCH64 };
	CLEANUP_STR struct str got = { 0 };
	for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
		for (unsigned stub = STUB_SIGNAL; stub <= STUB_CLONED_LAST; stub++) {
			bool plt = stub >= STUB_PLT_FIRST && stub <= STUB_PLT_PLAIN;
			if ((archs[i] == UNWIND_X86 && stub == STUB_SIGNAL) || (archs[i] == UNWIND_AARCH64 && (plt || stub >= STUB_CLONED)))
				continue; /* they are not there */
			struct rule_table table = { .arch = archs[i] };
			struct rule_builder builder;
			rule_builder_init(&builder, &table, 4);
			uint32_t at = stub_rule(&builder, archs[i], (enum stub)stub);
			EXPECT_INT(stub_rule(&builder, archs[i], (enum stub)stub), at);
			const struct rule *rule = &builder.rules.items[at];
			str_printf(&got, "%d %u: cfa %u %u%+d threshold %u flags %x", (int)archs[i], stub, rule->cfa_kind, rule->cfa_register,
				rule->cfa_value, rule->threshold, rule->flags);
			add_saved(&got, "ra", &rule->ra);
			add_saved(&got, "fp", &rule->fp);
			for (unsigned k = 0; k < rule->others_count; k++)
				add_saved(&got, "", &builder.saved.items[rule->others + k]);
			str_putc(&got, '\n');
			rule_builder_fini(&builder);
			rule_table_fini(&table);
		}
	stored_compare("test/unwind/stubs", &got);
}
