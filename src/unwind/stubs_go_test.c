#include "unwind/stubs_go.h"

#include "unit.h"
#include "unwind/cfi_maker.h"

/* Functions of Go's runtime, x86-64, each with the rule that Go's linker writes: the return address is on top of the stack. */
static const uint8_t goexit_code[] = { 0x90, 0xe8, 0, 0, 0, 0, 0x90 };
static const uint8_t systemstack_code[] = {
	0x48, 0x8b, 0x5a, 0x38,             /* 0x10: mov 0x38(%rdx), %rbx */
	0x48, 0x89, 0xdc,                   /* 0x14: mov %rbx, %rsp */
	0xff, 0xd7,                         /* 0x17: call *%rdi */
	0x48, 0x8b, 0x60, 0x38,             /* 0x19: mov 0x38(%rax), %rsp */
	0xc3,                               /* 0x1d */
};
static const uint8_t asmcgocall_code[] = {
	0x49, 0x8b, 0x66, 0x38,             /* 0x30: mov 0x38(%r14), %rsp */
	0xff, 0xd0,                         /* 0x34: call *%rax */
	0x48, 0x89, 0xf4,                   /* 0x36: mov %rsi, %rsp */
	0xc3,                               /* 0x39 */
	0x48, 0x83, 0xe4, 0xf0,             /* 0x3a: and $-16, %rsp */
	0xff, 0xd0,                         /* 0x3e: call *%rax */
};
static const uint8_t sigreturn_code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

static void open_runtime(struct scene *s, struct cfi_maker *m, bool go)
{
	uint8_t code[0xc0] = { 0 };
	memcpy(code, goexit_code, sizeof goexit_code);
	memcpy(code + 0x10, systemstack_code, sizeof systemstack_code);
	memcpy(code + 0x30, asmcgocall_code, sizeof asmcgocall_code);
	memcpy(code + 0x60, sigreturn_code, sizeof sigreturn_code);
	*m = (struct cfi_maker){ .arch = UNWIND_X86_64, .go = go };
	cfi_cie_made(m, "zR");
	cfi_fde_made(m, 0, sizeof goexit_code, CFI(0));
	cfi_fde_made(m, 0x10, sizeof systemstack_code, CFI(0));
	cfi_fde_made(m, 0x30, sizeof asmcgocall_code, CFI(0));
	cfi_fde_made(m, 0x60, sizeof sigreturn_code, CFI(0));
	cfi_fde_made(m, 0x80, 0x10, CFI(0));
	cfi_fde_made(m, 0xa0, 0x10, CFI(0x07, 16));
	scene_open(s, m, code, sizeof code);
	scene_register(s, 7, s->input.stack_address);
}

/* How a stack ends whose innermost frame was called at `place`, and whose other words are returns to a function. */
static enum unwind_end end_below(struct scene *s, uint64_t place)
{
	scene_word(s, 0, s->code + place);
	for (size_t at = 8; at < 0x80; at += 8)
		scene_word(s, at, s->code + 0xa4);
	scene_run(s, s->code + 0x84);
	return s->result.end;
}

TEST("Go: a goroutine's first function has no caller, whatever is above it on the stack")
{
	struct cfi_maker m;
	struct scene s;
	for (unsigned go = 0; go < 2; go++) {
		open_runtime(&s, &m, go);
		EXPECT_INT(end_below(&s, 1), UNWIND_COMPLETE);
		EXPECT_INT(s.result.count, go ? 2 : 3);
		scene_close(&s);
	}
}

TEST("Go: a chain is cut where the runtime switches to another stack, and continues after the switch back")
{
	static const struct { unsigned place; bool cut; } places[] = {
		{ 0x14, false }, { 0x19, true }, { 0x1d, true }, { 0x36, true }, { 0x39, true }, { 0x3a, false }, { 0x40, true },
	};
	struct cfi_maker m;
	struct scene s;
	open_runtime(&s, &m, true);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		EXPECT_INT(end_below(&s, places[i].place), places[i].cut ? UNWIND_SWITCHED : UNWIND_COMPLETE);
		EXPECT_INT(s.result.count, places[i].cut ? 2 : 3);
		EXPECT_INT(s.result.missing, 0);
	}
	scene_close(&s);
}

/* The same for AArch64, with the rule that Go's linker writes: the return address is in x30, from the second instruction on at the top. */
static const uint32_t goexit_words[] = { 0xaa0003e0, 0x94000000 };
static const uint32_t systemstack_words[] = {
	0xf81f0ffe,                         /* 0x10: str x30, [sp, #-16]! */
	0xf9401f83, 0x9100007f,             /* 0x14: ldr x3, [x28, #56]; mov sp, x3 */
	0xd63f0060,                         /* 0x1c: blr x3 */
	0xf9401f80, 0x9100001f,             /* 0x20: ldr x0, [x28, #56]; mov sp, x0 */
	0xd65f03c0,                         /* 0x28: ret */
};
static const uint32_t asmcgocall_words[] = {
	0xf81f0ffe,                         /* 0x30 */
	0xf9401f80, 0x9100001f,             /* 0x34: ldr x0, [x28, #56]; mov sp, x0 */
	0xd10041ad, 0x910001bf,             /* 0x3c: sub x13, x13, #16; mov sp, x13 */
	0xd63f0020,                         /* 0x44: blr x1 */
	0xcb0600a5, 0x910000bf,             /* 0x48: sub x5, x5, x6; mov sp, x5 */
	0xd10041ad, 0x910001bf,             /* 0x50 */
	0xd63f0020,                         /* 0x58: blr x1 */
	0xf94007e2, 0x9100005f,             /* 0x5c: ldr x2, [sp, #8]; mov sp, x2 */
	0x927cec21, 0x9100003f,             /* 0x64: and x1, x1, #-16; mov sp, x1 */
	0xd63f0020,                         /* 0x6c: blr x1 */
	0x9100029f,                         /* 0x70: mov sp, x20 */
	0xd65f03c0,
};

TEST("Go on AArch64: goroutines end at goexit, chains are cut where the runtime is on another stack")
{
	static const struct { unsigned place; enum unwind_end end; } places[] = {
		{ 0x04, UNWIND_COMPLETE }, { 0x18, UNWIND_NO_MAP }, { 0x20, UNWIND_SWITCHED }, { 0x28, UNWIND_SWITCHED }, { 0x2c, UNWIND_NO_MAP },
		{ 0x38, UNWIND_NO_MAP }, { 0x40, UNWIND_SWITCHED }, { 0x48, UNWIND_SWITCHED }, { 0x54, UNWIND_NO_MAP }, { 0x5c, UNWIND_SWITCHED },
		{ 0x68, UNWIND_NO_MAP }, { 0x70, UNWIND_SWITCHED }, { 0x78, UNWIND_NO_MAP },
	};
	struct cfi_maker m = { .arch = UNWIND_AARCH64, .go = true };
	struct scene s;
	uint8_t code[0xc0] = { 0 };
	memcpy(code, goexit_words, sizeof goexit_words);
	memcpy(code + 0x10, systemstack_words, sizeof systemstack_words);
	memcpy(code + 0x30, asmcgocall_words, sizeof asmcgocall_words);
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0, 8, CFI(0));
	cfi_fde_made(&m, 0x10, sizeof systemstack_words, CFI(0x41, 0x0e, 16, 0x9e, 2));
	cfi_fde_made(&m, 0x30, sizeof asmcgocall_words, CFI(0x41, 0x0e, 16, 0x9e, 2));
	cfi_fde_made(&m, 0x80, 0x10, CFI(0));
	scene_open(&s, &m, code, sizeof code);
	scene_register(&s, 31, s.input.stack_address);
	scene_word(&s, 0, 0x1230);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		scene_register(&s, 30, s.code + places[i].place);
		scene_run(&s, s.code + 0x84);
		EXPECT_INT(s.result.end, places[i].end);
		EXPECT_INT(s.result.count, places[i].end == UNWIND_NO_MAP ? 3 : 2);
	}
	scene_close(&s);
}

TEST("Go: its signal trampoline has rules like any function, and is recognized")
{
	struct cfi_maker m;
	struct scene s;
	open_runtime(&s, &m, true);
	scene_word(&s, 0, s.code + 0x60);
	scene_word(&s, 8 + 160, s.input.stack_address + 0x300); /* rsp */
	scene_word(&s, 8 + 168, s.code + 0xa0);                 /* rip */
	scene_run(&s, s.code + 0x84);
	EXPECT_INT(s.result.count, 3);
	EXPECT(s.frames[1].signal && s.frames[2].pc == s.code + 0xa0);
	scene_close(&s);
}

TEST("Go: a return address that is a function's first instruction belongs to that function")
{
	struct cfi_maker m;
	struct scene s;
	open_runtime(&s, &m, true);
	scene_word(&s, 0, s.code + 0x80); /* no code directly before it */
	scene_word(&s, 8, s.code + 0xa4);
	scene_run(&s, s.code + 0x84);
	EXPECT_INT(s.result.count, 3);
	EXPECT(s.frames[1].entry && !s.frames[2].entry);
	scene_close(&s);
}

TEST("Go: any bytes of code compile to a table, and unwinding through it ends")
{
	static const uint8_t pieces[] = { 0x48, 0x49, 0x4c, 0x8b, 0x89, 0x38, 0x60, 0x5a, 0xdc, 0xf4, 0x83, 0xe4, 0xf0, 0x90, 0xe8, 0xc3 };
	uint32_t dice = 1;
	for (unsigned turn = 0; turn < 500; turn++) {
		struct cfi_maker m = { .arch = UNWIND_X86_64, .go = true };
		struct scene s;
		uint8_t code[0xc0];
		for (size_t i = 0; i < sizeof code; i++) {
			dice = dice * 1664525 + 1013904223;
			code[i] = pieces[dice >> 24 & 15];
		}
		cfi_cie_made(&m, "zR");
		for (unsigned at = 0; at < sizeof code; at += 0x10 + (dice & 3))
			cfi_fde_made(&m, at, 0x10, CFI(0));
		scene_open(&s, &m, code, sizeof code);
		scene_register(&s, 7, s.input.stack_address);
		end_below(&s, turn % sizeof code);
		EXPECT(s.result.count && s.result.end != UNWIND_NEEDS_TABLE);
		scene_close(&s);
	}
}
