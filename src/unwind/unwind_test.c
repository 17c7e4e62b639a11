#include "unwind/unwind.h"

#include "unit.h"
#include "unwind/cfi_maker.h"

enum { RBX = 3, RBP = 6, RSP = 7, X29 = 29, X30 = 30, SP = 31, ESP = 4, EBP = 5 };

/* Code with calls through a register before each address to which these tests' stacks are guessed to return: 0x50, 0x88, 0x210. */
static const uint8_t *plain_code(void)
{
	static uint8_t code[MADE_LENGTH];
	static const size_t behind[] = { 0x50, 0x88, 0x210 };
	for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
		memcpy(code + behind[i] - 2, "\xff\xd0", 2);
	return code;
}

/* Three functions of x86-64: `leaf` at 0x10 (only a return address), `framed` at 0x40 (push rbp; mov rsp, rbp from 0x44 on), `start` at
 * 0x80 (without a caller). */
static void open_plain(struct scene *s, struct cfi_maker *m)
{
	*m = (struct cfi_maker){ .arch = UNWIND_X86_64 };
	cfi_cie_made(m, "zR");
	cfi_fde_made(m, 0x10, 0x10, CFI(0));
	cfi_fde_made(m, 0x40, 0x20, CFI(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, RBP));
	cfi_fde_made(m, 0x80, 0x10, CFI(0x07, 16));
	scene_open(s, m, plain_code(), MADE_LENGTH);
}

TEST("frames are unwound by rules, down to the one without a caller")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBP, s.input.stack_address + 0x40);
	scene_word(&s, 0, s.code + 0x50);     /* leaf was called by framed */
	scene_word(&s, 0x40, 0x1234);         /* framed's caller's rbp */
	scene_word(&s, 0x48, s.code + 0x88);  /* which was called by start */
	const struct unwind_frame *f = scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 3);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	EXPECT_INT(s.result.guessed, 0);
	EXPECT(f[0].pc == s.code + 0x18 && f[1].pc == s.code + 0x50 && f[2].pc == s.code + 0x88);
	EXPECT(f[0].cfa == s.input.stack_address + 8 && f[1].cfa == s.input.stack_address + 0x50);
	scene_close(&s);
}

TEST("each row of a function's rules applies from its address to that of the next one")
{
	static const struct { unsigned pc, ra; } rows[] = { { 0x40, 0 }, { 0x41, 8 }, { 0x43, 8 }, { 0x44, 0x48 }, { 0x5f, 0x48 } };
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBP, s.input.stack_address + 0x40);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		memset(s.stack, 0, sizeof s.stack);
		scene_word(&s, rows[i].ra, s.code + 0x88);
		scene_run(&s, s.code + rows[i].pc);
		EXPECT_INT(s.result.count, 2);
		EXPECT(s.frames[1].pc == s.code + 0x88);
	}
	scene_close(&s);
}

TEST("a return address after the last instruction of a function belongs to the function, and the frame is marked so")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	scene_register(&s, RSP, s.input.stack_address);
	scene_word(&s, 0, s.code + 0x90); /* start ends there: its last instruction was a call */
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 2);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	EXPECT(s.frames[1].last && !s.frames[0].last);
	scene_word(&s, 0, s.code + 0x8f);
	scene_run(&s, s.code + 0x1f); /* an interrupted instruction is not a return address */
	EXPECT(!s.frames[1].last && !s.frames[0].last);
	scene_close(&s);
}

TEST("a return address after a function's last call belongs to the function, also if the next function's first rule is equal")
{
	struct cfi_maker m = { .arch = UNWIND_X86_64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0));
	cfi_fde_made(&m, 0x40, 0x20, CFI(0x0e, 16));
	cfi_fde_made(&m, 0x60, 0x20, CFI(0x0e, 16));
	scene_open(&s, &m, "", 0);
	scene_register(&s, RSP, s.input.stack_address);
	scene_word(&s, 0, s.code + 0x60);
	scene_run(&s, s.code + 0x10);
	EXPECT(s.frames[1].pc == s.code + 0x60 && s.frames[1].last);
	scene_word(&s, 0, s.code + 0x61);
	scene_run(&s, s.code + 0x10);
	EXPECT(!s.frames[1].last);
	scene_close(&s);
}

TEST("a partially copied stack ends in a cut chain with the address of the missing return address")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBP, s.input.stack_address + sizeof s.stack - 8);
	scene_run(&s, s.code + 0x48);
	EXPECT_INT(s.result.count, 1);
	EXPECT_INT(s.result.end, UNWIND_CUT);
	EXPECT(s.result.missing == s.input.stack_address + sizeof s.stack);
	scene_register(&s, RBP, 8);
	scene_run(&s, s.code + 0x48);
	EXPECT_INT(s.result.end, UNWIND_CUT);
	scene_close(&s);
}

TEST("premature ends: no mapping, no rule, the limit of frames, a return address of 0")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBP, 0);
	scene_run(&s, 0x1234);
	EXPECT_INT(s.result.end, UNWIND_NO_MAP);
	EXPECT_INT(s.result.count, 1);
	scene_run(&s, s.code + 0x200);
	EXPECT_INT(s.result.end, UNWIND_NO_RULE);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	EXPECT(s.result.null_return);
	s.input.max_frames = 1;
	scene_word(&s, 0, s.code + 0x50);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.end, UNWIND_LIMIT);
	EXPECT_INT(s.result.count, 1);
	scene_close(&s);
}

TEST("a function that returns to itself with an unchanged stack ends the chain")
{
	struct cfi_maker m = { .arch = UNWIND_X86_64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0x0c, RBP, 16)); /* CFA by rbp, which does not change */
	scene_open(&s, &m, "", 0);
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBP, s.input.stack_address);
	scene_word(&s, 8, s.code + 0x18);
	s.input.max_frames = 64;
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.end, UNWIND_BAD_RULE);
	EXPECT(s.result.count <= 2);
	scene_close(&s);
}

TEST("the table of a module that was not compiled yet is requested")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	struct module *other = modules_file(&s.modules, "/nowhere/other", MODULE_FILE, &(struct module_identity){ 0 });
	s.maps[0].module = other->id;
	scene_register(&s, RSP, s.input.stack_address);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.end, UNWIND_NEEDS_TABLE);
	EXPECT_INT(s.result.module, other->id);
	unwind_tables_load(s.tables, other);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.end, UNWIND_NO_RULE);
	EXPECT(!unwind_tables_has(s.tables, other));
	scene_close(&s);
}

TEST("a module without a table that calls one with a table has no rules of it: the chain ends there")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	struct module *without = modules_file(&s.modules, "/nowhere/without", MODULE_FILE, &(struct module_identity){ 0 });
	unwind_tables_load(s.tables, without);
	s.maps[1] = (struct map){ .start = 0x7000000, .end = 0x7002000, .pgoff = s.maps[0].pgoff, .module = without->id };
	s.nodes[1].end = s.maps[1].end;
	uint64_t inside = 0x7000000 + s.code - s.maps[0].start;
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBP, s.input.stack_address + 0x20);
	scene_word(&s, 0, inside + 0x18);     /* by the other's rule of this offset, the next word would be the return address */
	scene_word(&s, 8, s.code + 0x50);
	scene_word(&s, 0x28, s.code + 0x50);
	const struct unwind_frame *f = scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 2);
	EXPECT_INT(s.result.end, UNWIND_NO_RULE);
	EXPECT_INT(s.result.module, without->id);
	EXPECT(f[1].pc == inside + 0x18);
	scene_close(&s);
}

TEST("code generated at run time is unwound by its frame pointer, and marked as guessed")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBP, s.input.stack_address + 0x10);
	scene_word(&s, 0x10, s.input.stack_address + 0x40);
	scene_word(&s, 0x18, s.code + 0x50);
	scene_word(&s, 0x40, 0);
	scene_word(&s, 0x48, s.code + 0x88);
	scene_run(&s, 0x7000010);
	EXPECT_INT(s.result.count, 3);
	EXPECT_INT(s.result.guessed, 1);
	EXPECT(s.frames[1].guessed && !s.frames[2].guessed);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	scene_close(&s);
}

TEST("code without rules in a file with rules is unwound by its frame pointer if that is plausible")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBP, s.input.stack_address + 0x10);
	scene_word(&s, 0x18, s.code + 0x88);
	scene_run(&s, s.code + 0x200);
	EXPECT_INT(s.result.count, 2);
	EXPECT_INT(s.result.guessed, 1);
	scene_word(&s, 0x10, 0);
	scene_word(&s, 0x18, s.code + 0x210);
	scene_run(&s, s.code + 0x200); /* the frame pointer of the outermost frame is zero */
	EXPECT_INT(s.result.count, 2);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	scene_register(&s, RBP, 0); /* in the first frame it may have any value */
	scene_run(&s, s.code + 0x200);
	EXPECT_INT(s.result.end, UNWIND_NO_RULE);
	scene_register(&s, RBP, s.input.stack_address + 0x5000); /* too far up */
	scene_run(&s, s.code + 0x200);
	EXPECT_INT(s.result.end, UNWIND_NO_RULE);
	scene_close(&s);
}

TEST("a guess leads only to addresses after a call, and guessing can be disabled")
{
	static const struct { size_t at; uint8_t len, code[8]; bool calls; } cases[] = {
		{ 0x300, 5, { 0xe8, 0, 0, 0, 0 }, true },         /* call of the code below, which has no rules */
		{ 0x300, 5, { 0xe8, 0x3b, 0xfd, 0xff, 0xff }, false }, /* 0x40: of a function with rules, different from the guessed one */
		{ 0x300, 5, { 0xe9, 0, 0, 0, 0 }, false },        /* jmp */
		{ 0x300, 2, { 0xff, 0xd0 }, true },               /* call *%rax */
		{ 0x300, 3, { 0x41, 0xff, 0xd4 }, true },         /* call *%r12 */
		{ 0x300, 3, { 0xff, 0x50, 0x10 }, true },         /* call *16(%rax) */
		{ 0x300, 4, { 0xff, 0x54, 0x24, 0x08 }, true },   /* call *8(%rsp) */
		{ 0x300, 6, { 0xff, 0x15, 1, 2, 0, 0 }, true },   /* call *0x201(%rip) */
		{ 0x300, 7, { 0xff, 0x94, 0xc3, 1, 2, 0, 0 }, true }, /* call *0x201(%rbx,%rax,8) */
		{ 0x300, 7, { 0xff, 0x14, 0xc5, 1, 2, 0, 0 }, true }, /* call *0x201(,%rax,8) */
		{ 0x300, 2, { 0xff, 0xe0 }, false },              /* jmp *%rax */
		{ 0x300, 3, { 0xff, 0xd0, 0x90 }, false },        /* followed by another instruction */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cfi_maker m = { .arch = UNWIND_X86_64 };
		struct scene s;
		uint8_t code[MADE_LENGTH] = { 0 };
		memcpy(code + cases[i].at, cases[i].code, cases[i].len);
		cfi_cie_made(&m, "zR");
		cfi_fde_made(&m, 0x40, 0x20, CFI(0));
		scene_open(&s, &m, code, sizeof code);
		scene_register(&s, RSP, s.input.stack_address);
		scene_register(&s, RBP, s.input.stack_address + 0x10);
		scene_word(&s, 0x18, s.code + cases[i].at + cases[i].len);
		scene_run(&s, s.code + 0x200);
		EXPECT_INT(s.result.count, cases[i].calls ? 2 : 1);
		s.input.no_guess = true;
		scene_run(&s, s.code + 0x200);
		EXPECT(s.result.count == 1 && s.result.end == UNWIND_NO_RULE && !s.result.guessed);
		scene_close(&s);
	}
}

TEST("AArch64: a leaf without rules returns to an address after a call, or the chain ends")
{
	static const struct { uint32_t code; bool calls; } cases[] = {
		{ 0x94000010, true }, { 0xd63f0100, true }, { 0xd63f0bff, true }, /* bl, blr x8, blraaz x31 */
		{ 0x97ffff50, false },                                 /* bl 0x40: of a function with rules */
		{ 0x14000010, false }, { 0xd61f0100, false }, { 0xd65f03c0, false }, /* b, br x8, ret */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cfi_maker m = { .arch = UNWIND_AARCH64 };
		struct scene s;
		uint8_t code[MADE_LENGTH] = { 0 };
		memcpy(code + 0x300, &cases[i].code, 4);
		cfi_cie_made(&m, "zR");
		cfi_fde_made(&m, 0x40, 0x20, CFI(0));
		scene_open(&s, &m, code, sizeof code);
		scene_register(&s, SP, s.input.stack_address);
		scene_register(&s, X29, 0);
		scene_register(&s, X30, s.code + 0x304);
		scene_run(&s, s.code + 0x200);
		EXPECT_INT(s.result.count, cases[i].calls ? 2 : 1);
		scene_close(&s);
	}
}

TEST("the linker's rule of a PLT: the word that the entry pushed is added from its threshold on")
{
	struct cfi_maker m = { .arch = UNWIND_X86_64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x20, 0x40, CFI(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	cfi_fde_made(&m, 0x80, 0x10, CFI(0x07, 16));
	scene_open(&s, &m, "", 0);
	scene_register(&s, RSP, s.input.stack_address);
	for (unsigned at = 0; at < 16; at++) {
		memset(s.stack, 0, sizeof s.stack);
		scene_word(&s, at >= 11 ? 8 : 0, s.code + 0x88);
		scene_run(&s, s.code + 0x30 + at);
		EXPECT_INT(s.result.count, 2);
		EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	}
	scene_close(&s);
}

TEST("a signal trampoline restores all registers, and the pc of the interrupted instruction")
{
	struct cfi_maker m = { .arch = UNWIND_X86_64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0));
	cfi_fde_made(&m, 0x80, 0x10, CFI(0x07, 16));
	cfi_fde_made(&m, 0xa0, 0x10, CFI(0x0c, RBX, 16)); /* the CFA depends on rbx */
	cfi_cie_made(&m, "zRS");
	/* rsp, rip and rbx are in a structure at rsp + 0x20 */
	cfi_fde_made(&m, 0x40, 0x10, CFI(0x0f, 3, 0x77, 0x20, 0x06, 0x10, RSP, 2, 0x77, 0x20, 0x10, 16, 2, 0x77, 0x28, 0x10, RBX, 2, 0x77, 0x30));
	scene_open(&s, &m, "", 0);
	scene_register(&s, RSP, s.input.stack_address);
	scene_word(&s, 0, s.code + 0x40);        /* the handler (leaf) returns to the trampoline's first instruction */
	/* the look-up uses the byte before: the trampoline's rules begin one byte earlier, as in libc */
	scene_word(&s, 8 + 0x20, s.input.stack_address + 0x100);
	scene_word(&s, 8 + 0x28, s.code + 0xa0); /* interrupted at the first instruction of a function */
	scene_word(&s, 8 + 0x30, s.input.stack_address + 0x200);
	scene_word(&s, 0x208, s.code + 0x88);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 2); /* no rule covers the byte before the trampoline here */
	scene_word(&s, 0, s.code + 0x41);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 4);
	EXPECT(s.frames[1].signal && !s.frames[2].signal);
	EXPECT(s.frames[2].pc == s.code + 0xa0 && s.frames[3].pc == s.code + 0x88);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	scene_close(&s);
}

TEST("after a trampoline's last instruction, the system call, the kernel still handles the sigreturn")
{
	struct cfi_maker m = { .arch = UNWIND_X86_64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x80, 0x10, CFI(0x07, 16));
	cfi_cie_made(&m, "zRS");
	cfi_fde_made(&m, 0x40, 0x10, CFI(0x0f, 3, 0x77, 0x20, 0x06, 0x10, RSP, 2, 0x77, 0x20, 0x10, 16, 2, 0x77, 0x28));
	scene_open(&s, &m, "", 0);
	scene_register(&s, RSP, s.input.stack_address);
	scene_word(&s, 0x20, s.input.stack_address + 0x100);
	scene_word(&s, 0x28, s.code + 0x88);
	scene_run(&s, s.code + 0x50);
	EXPECT_INT(s.result.count, 2);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	EXPECT(s.frames[0].signal && s.frames[1].pc == s.code + 0x88);
	scene_run(&s, s.code + 0x51); /* further addresses are unknown */
	EXPECT_INT(s.result.count, 1);
	scene_run(&s, s.code + 0x90); /* so are addresses after any other code */
	EXPECT_INT(s.result.count, 1);
	scene_close(&s);
}

TEST("registers that some rule reads are restored in each frame")
{
	struct cfi_maker m = { .arch = UNWIND_X86_64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0x0e, 16, 0x80 | RBX, 2)); /* rbx was pushed */
	cfi_fde_made(&m, 0x40, 0x10, CFI(0x0c, RBX, 16));
	cfi_fde_made(&m, 0x80, 0x10, CFI(0x07, 16));
	scene_open(&s, &m, "", 0);
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBX, 0);
	scene_word(&s, 0, s.input.stack_address + 0x100);
	scene_word(&s, 8, s.code + 0x48);
	scene_word(&s, 0x108, s.code + 0x88);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 3);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	scene_close(&s);
}

TEST("remembered states, val_offset rules and expressions follow the standard")
{
	struct cfi_maker m = { .arch = UNWIND_X86_64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	/* 0x10: pushes; 0x18: epilogue in the middle; 0x1c: the state before it */
	cfi_fde_made(&m, 0x10, 0x10, CFI(0x0e, 32, 0x48, 0x0a, 0x0e, 8, 0x44, 0x0b));
	/* rsp of the caller by DW_CFA_val_offset: 16 above the CFA */
	cfi_fde_made(&m, 0x40, 0x10, CFI(0x15, RSP, 0x7e));
	/* rbp by DW_CFA_val_expression: rsp + 0x80; the caller's CFA depends on it */
	cfi_fde_made(&m, 0x60, 0x10, CFI(0x16, RBP, 5, 0x77, 0xc0, 0x00, 0x23, 0x40));
	cfi_fde_made(&m, 0x80, 0x10, CFI(0x0c, RBP, 16));
	cfi_fde_made(&m, 0xc0, 0x10, CFI(0x07, 16));
	scene_open(&s, &m, "", 0);
	scene_register(&s, RSP, s.input.stack_address);
	scene_word(&s, 24, s.code + 0xc8);
	EXPECT(scene_run(&s, s.code + 0x14)[1].pc == s.code + 0xc8);
	EXPECT(scene_run(&s, s.code + 0x1c)[1].pc == s.code + 0xc8);
	scene_word(&s, 0, s.code + 0xc8);
	EXPECT(scene_run(&s, s.code + 0x19)[1].pc == s.code + 0xc8);
	scene_word(&s, 0, s.code + 0x14);      /* 0x40 was called by 0x10, whose rsp is 8 + 16 */
	scene_word(&s, 24 + 24, s.code + 0xc8);
	scene_run(&s, s.code + 0x48);
	EXPECT_INT(s.result.count, 3);
	scene_word(&s, 0, s.code + 0x88);
	scene_word(&s, 0x88, s.code + 0xc8);
	scene_run(&s, s.code + 0x68);
	EXPECT_INT(s.result.count, 3);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	scene_close(&s);
}

TEST("AArch64: the link register of a leaf, saved pairs, and stripped authentication codes")
{
	struct cfi_maker m = { .arch = UNWIND_AARCH64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0));
	/* paciasp; stp x29, x30, [sp, -32]! */
	cfi_fde_made(&m, 0x40, 0x20, CFI(0x41, 0x2d, 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3));
	cfi_fde_made(&m, 0x80, 0x10, CFI(0x07, 30));
	scene_open(&s, &m, "", 0);
	scene_register(&s, SP, s.input.stack_address);
	scene_register(&s, X29, 0);
	scene_register(&s, X30, s.code + 0x58);
	scene_word(&s, 0, 0x77);
	scene_word(&s, 8, (s.code + 0x88) | 0x2a34000000000000);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 3);
	EXPECT(s.frames[1].pc == s.code + 0x58 && s.frames[2].pc == s.code + 0x88);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	scene_register(&s, X30, (s.code + 0x88) | 0x0015000000000000);
	scene_run(&s, s.code + 0x44); /* signed already, not saved yet */
	EXPECT_INT(s.result.count, 2);
	EXPECT(s.frames[1].pc == s.code + 0x88);
	scene_close(&s);
}

TEST("AArch64: a caller whose rule does not save its return address ends the chain")
{
	struct cfi_maker m = { .arch = UNWIND_AARCH64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0));
	scene_open(&s, &m, "", 0);
	scene_register(&s, SP, s.input.stack_address);
	scene_register(&s, X30, s.code + 0x14);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 2);
	EXPECT_INT(s.result.end, UNWIND_BAD_RULE);
	scene_close(&s);
}

TEST("32-bit x86: words of four bytes")
{
	struct cfi_maker m = { .arch = UNWIND_X86 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0));
	cfi_fde_made(&m, 0x40, 0x20, CFI(0x41, 0x0e, 8, 0x85, 2, 0x42, 0x0d, EBP, 0x2e, 0x10));
	cfi_fde_made(&m, 0x80, 0x10, CFI(0x07, 8));
	scene_open(&s, &m, "", 0);
	scene_register(&s, ESP, s.input.stack_address);
	scene_register(&s, EBP, s.input.stack_address + 0x40);
	scene_word(&s, 0, s.code + 0x50);
	scene_word(&s, 0x44, s.code + 0x88);
	scene_run(&s, s.code + 0x18);
	EXPECT_INT(s.result.count, 3);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	scene_close(&s);
}

TEST("a call through a null pointer, or into the vsyscall page, continues at the caller; if none is found, the pointer yields no frame")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	scene_register(&s, RSP, s.input.stack_address);
	scene_word(&s, 0, s.code + 0x88);
	scene_run(&s, 0);
	EXPECT_INT(s.result.count, 2);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	EXPECT_INT(s.result.guessed, 1);
	EXPECT(s.frames[0].pc == 0 && s.frames[1].pc == s.code + 0x88);
	scene_run(&s, 0x18); /* a member of a structure at a null pointer */
	EXPECT_INT(s.result.count, 2);
	scene_run(&s, 0xffffffffff600400); /* the kernel's page for system calls without a system call */
	EXPECT_INT(s.result.count, 2);
	scene_word(&s, 0, 0x1234);
	scene_run(&s, 0);
	EXPECT_INT(s.result.count, 0);
	scene_run(&s, 0x18);
	EXPECT_INT(s.result.count, 1);
	struct module *other = modules_file(&s.modules, "/nowhere/other", MODULE_FILE, &(struct module_identity){ 0 });
	unwind_tables_add(s.tables, other, NULL, NULL);
	s.maps[0].module = other->id; /* its file is absent */
	scene_word(&s, 0, s.code + 0x88);
	scene_run(&s, 0);
	EXPECT_INT(s.result.count, 0);
	scene_run(&s, 0xffffffffff600400);
	EXPECT_INT(s.result.count, 1);
	scene_close(&s);
}

/* A 32-bit program whose vdso, at 0x7000000, has no file. */
static void open_compat(struct scene *s, struct cfi_maker *m)
{
	*m = (struct cfi_maker){ .arch = UNWIND_X86 };
	cfi_cie_made(m, "zR");
	cfi_fde_made(m, 0x10, 0x10, CFI(0));
	cfi_fde_made(m, 0x40, 0x20, CFI(0x41, 0x0e, 8, 0x85, 2, 0x42, 0x0d, EBP, 0x2e, 0x10));
	cfi_fde_made(m, 0x80, 0x10, CFI(0x07, 8));
	scene_open(s, m, plain_code(), MADE_LENGTH);
	struct module *vdso = modules_file(&s->modules, "[vdso]", MODULE_VDSO, &(struct module_identity){ 0 });
	unwind_tables_add(s->tables, vdso, NULL, NULL);
	s->maps[1].module = vdso->id;
	scene_register(s, ESP, s->input.stack_address);
}

TEST("32-bit x86 under a 64-bit kernel: a system call in the vdso continues at the caller")
{
	enum { VSYSCALL = 0x7000589 };
	struct cfi_maker m;
	struct scene s;
	open_compat(&s, &m);
	uint32_t frame = (uint32_t)s.input.stack_address + 0x40;
	scene_word(&s, 0, frame);             /* ebp, edx, ecx */
	scene_word(&s, 8, 0x4321);
	scene_word(&s, 12, s.code + 0x50);    /* framed made the call */
	scene_word(&s, 0x40, 0x1234);
	scene_word(&s, 0x44, s.code + 0x88);
	const uint64_t seen[] = { frame, s.input.stack_address, 0x4321 }; /* popped by the kernel; on entry by sysenter and syscall */
	for (size_t i = 0; i < 3; i++) {
		scene_register(&s, EBP, seen[i]);
		scene_run(&s, VSYSCALL);
		EXPECT_INT(s.result.count, 3);
		EXPECT_INT(s.result.end, UNWIND_COMPLETE);
		EXPECT(s.frames[1].pc == s.code + 0x50 && s.frames[2].pc == s.code + 0x88);
	}
	scene_register(&s, EBP, frame + 4);   /* elsewhere in the vdso: no guess */
	scene_run(&s, VSYSCALL);
	EXPECT_INT(s.result.count, 1);
	EXPECT_INT(s.result.end, UNWIND_NO_RULE);
	scene_close(&s);
}

TEST("32-bit x86 under a 64-bit kernel: signal handlers of both kinds return to the interrupted instruction")
{
	for (unsigned takes_info = 0; takes_info < 2; takes_info++) {
		struct cfi_maker m;
		struct scene s;
		open_compat(&s, &m);
		uint32_t stack = (uint32_t)s.input.stack_address;
		size_t context = takes_info ? 4 + 12 + 128 + 20 : 8;
		scene_register(&s, EBP, 0);
		scene_word(&s, 0, 0x7000590);                /* leaf is the handler */
		scene_word(&s, 4, 10);
		if (takes_info) {
			scene_word(&s, 8, stack + 16);
			scene_word(&s, 12, stack + 16 + 128);
		}
		scene_word(&s, context + 24, stack + 0x300); /* ebp */
		scene_word(&s, context + 28, stack + 0x2f0); /* esp */
		scene_word(&s, context + 56, s.code + 0x50); /* eip */
		scene_word(&s, context + 60, 0x23);          /* cs */
		scene_word(&s, 0x304, s.code + 0x88);
		scene_run(&s, s.code + 0x18);
		EXPECT_INT(s.result.count, 4);
		EXPECT_INT(s.result.end, UNWIND_COMPLETE);
		EXPECT(s.frames[1].signal && s.frames[2].pc == s.code + 0x50 && s.frames[3].pc == s.code + 0x88);
		if (takes_info)
			scene_register(&s, ESP, stack + 4);
		else
			scene_register(&s, ESP, stack + 8);
		scene_register(&s, EBP, 0x4321);
		scene_run(&s, 0x7000590);                    /* before it returns */
		EXPECT_INT(s.result.count, 3);
		EXPECT(s.frames[0].signal && s.frames[2].pc == s.code + 0x88);
		scene_register(&s, ESP, stack);
		scene_register(&s, EBP, 0);
		scene_word(&s, context + 60, 0x1234);        /* invalid */
		scene_run(&s, s.code + 0x18);
		EXPECT_INT(s.result.count, 2);
		EXPECT_INT(s.result.end, UNWIND_NO_RULE);
		scene_close(&s);
	}
}

TEST("damaged entries are counted and leave their code without rules; others are used")
{
	struct cfi_maker m = { .arch = UNWIND_X86_64 };
	struct scene s;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0x44, 0x3f));       /* an invalid instruction */
	cfi_fde_made(&m, 0x40, 0x10, CFI(0x0b));             /* no state was remembered */
	cfi_fde_made(&m, 0x60, 0x10, CFI(0x44, 0x0e, 16, 0x0e)); /* a missing operand: padding is read as 0 */
	cfi_fde_made(&m, 0x80, 0x10, CFI(0x07, 16));
	scene_open(&s, &m, "", 0);
	scene_register(&s, RSP, s.input.stack_address);
	scene_word(&s, 0, s.code + 0x88);
	EXPECT_INT(unwind_tables_counters(s.tables).damaged_entries, 2);
	scene_run(&s, s.code + 0x12);
	EXPECT_INT(s.result.count, 2); /* before the damage */
	scene_run(&s, s.code + 0x16);
	EXPECT_INT(s.result.end, UNWIND_NO_RULE);
	scene_run(&s, s.code + 0x44);
	EXPECT_INT(s.result.end, UNWIND_NO_RULE);
	scene_run(&s, s.code + 0x88);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	scene_close(&s);
}

TEST("a module without rules has none of the module before it, and the module after it has its own")
{
	struct cfi_maker m;
	struct scene s;
	open_plain(&s, &m);
	/* the second module at the same offsets as the rules of the first one */
	s.maps[1].pgoff = s.maps[0].pgoff;
	uint64_t same = s.maps[1].start + (s.code - s.maps[0].start) + 0x14;
	scene_register(&s, RSP, s.input.stack_address);
	scene_register(&s, RBP, s.input.stack_address + 0x100);
	scene_word(&s, 0, same);
	scene_word(&s, 0x100, 0);
	scene_word(&s, 0x108, s.code + 0x88);
	s.input.no_guess = true;
	scene_run(&s, s.code + 0x14);
	EXPECT_INT(s.result.count, 2);
	EXPECT_INT(s.result.end, UNWIND_NO_RULE);
	s.input.no_guess = false;
	scene_run(&s, s.code + 0x14);
	EXPECT_INT(s.result.count, 3);
	EXPECT_INT(s.result.guessed, 1);
	EXPECT_INT(s.result.end, UNWIND_COMPLETE);
	EXPECT(s.frames[1].pc == same && s.frames[2].pc == s.code + 0x88);
	scene_close(&s);
}
