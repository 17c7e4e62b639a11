#include "code/objdump.h"

#include <elf.h>

#include "unit.h"

static void expect_objdump(const char *bytes, size_t len, const char *want)
{
	struct disassembler *d;
	struct span code = { (const uint8_t *)bytes, len };
	uint64_t address = 0x1000;
	struct instruction in;
	struct str text CLEANUP_STR = { 0 }, operands CLEANUP_STR = { 0 };
	EXPECT_INT(disassembler_open(&d, &(struct code_machine){ EM_X86_64, .is64 = true }, CODE_ATT, NULL), 0);
	EXPECT(disassembler_next(d, &code, &address, &in));
	objdump_spell(&in, &text, &operands);
	str_printf(&text, operands.len ? " %s" : "%s", str_text(&operands));
	EXPECT_STR(str_text(&text), want);
	disassembler_close(d);
}

TEST("x86 code has objdump's spelling")
{
	static const struct { const char *bytes; size_t len; const char *want; } rows[] = {
#define ROW(bytes, want) { bytes, sizeof bytes - 1, want }
		ROW("\x48\x89\xe5", "mov %rsp,%rbp"), ROW("\xc3", "ret"), ROW("\x55", "push %rbp"), ROW("\x74\x10", "je 1012"),
		ROW("\xe8\x00\x01\x00\x00", "call 1105"), ROW("\xa8\x01", "test $0x1,%al"), ROW("\x83\xc8\xff", "or $0xffffffff,%eax"),
		ROW("\xc7\x45\xfc\x01\x00\x00\x00", "movl $0x1,-0x4(%rbp)"), ROW("\x48\x8b\x14\xc6", "mov (%rsi,%rax,8),%rdx"),
		ROW("\x0f\x1f\x44\x00\x00", "nopl 0x0(%rax,%rax,1)"), ROW("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "cs nopw 0x0(%rax,%rax,1)"),
		ROW("\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "data16 cs nopw 0x0(%rax,%rax,1)"), ROW("\x66\x90", "xchg %ax,%ax"),
		ROW("\xd1\xe8", "shr %eax"), ROW("\xf3\xab", "rep stos %eax,%es:(%rdi)"), ROW("\x66\x48\x0f\x6e\xc0", "movq %rax,%xmm0"),
		ROW("\x64\x48\x8b\x04\x25\x28\x00\x00\x00", "mov %fs:0x28,%rax"), ROW("\xf0\x0f\xb1\x11", "lock cmpxchg %edx,(%rcx)"),
		ROW("\x64\x48\x8b\x04\x25\x00\x00\x00\x00", "mov %fs:0x0,%rax"),
		ROW("\xff\x25\x10\x00\x00\x00", "jmp *0x10(%rip)"), ROW("\xd9\xc0", "fld %st(0)"),
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		expect_objdump(rows[i].bytes, rows[i].len, rows[i].want);
}
