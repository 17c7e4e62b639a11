#include "code/disassemble.h"

#include <elf.h>

#include "unit.h"

static const struct code_machine x86_64 = { EM_X86_64, .is64 = true };

/* Disassembles up to max instructions; returns their number. Texts of the last one are valid. */
static size_t disassemble(const struct code_machine *machine, enum code_syntax syntax, const void *bytes, size_t len, uint64_t address,
	struct instruction *out, size_t max)
{
	struct disassembler *d;
	struct span code = { bytes, len };
	size_t count = 0;
	if (disassembler_open(&d, machine, syntax, NULL) < 0)
		return 0;
	while (count < max && disassembler_next(d, &code, &address, &out[count]))
		count++;
	disassembler_close(d);
	return count;
}

struct spelled {
	const char *bytes;
	size_t len;
	const char *text;      /* mnemonic, a blank, operands */
	enum code_kind kind;
	bool conditional, direct;
	uint64_t target;       /* of code at 0x1000 */
};

static void expect_spelled(const struct code_machine *machine, enum code_syntax syntax, const struct spelled *rows, size_t count)
{
	struct disassembler *d;
	EXPECT_INT(disassembler_open(&d, machine, syntax, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		struct span code = { (const uint8_t *)rows[i].bytes, rows[i].len };
		uint64_t address = 0x1000;
		struct instruction in;
		char text[256];
		EXPECT(disassembler_next(d, &code, &address, &in));
		snprintf(text, sizeof text, "%s%s%s", in.mnemonic, *in.operands ? " " : "", in.operands);
		EXPECT_STR(text, rows[i].text);
		EXPECT_INT(in.kind, rows[i].kind);
		EXPECT_INT(in.conditional, rows[i].conditional);
		EXPECT_INT(in.direct, rows[i].direct);
		EXPECT_INT(in.target, rows[i].target);
		EXPECT_INT(in.length, rows[i].len);
		EXPECT_INT(code.len, 0);
		EXPECT_INT(address, 0x1000 + rows[i].len);
	}
	disassembler_close(d);
}
#define ROWS(rows) rows, sizeof rows / sizeof *rows
#define CODE(bytes) bytes, sizeof bytes - 1

TEST("instructions of x86-64 have their text, kind and target")
{
	static const struct spelled rows[] = {
		{ CODE("\x48\x89\xe5"), "movq %rsp, %rbp", CODE_PLAIN, false, false, 0 },
		{ CODE("\x74\x10"), "je 0x1012", CODE_JUMP, true, true, 0x1012 },
		{ CODE("\xeb\xfe"), "jmp 0x1000", CODE_JUMP, false, true, 0x1000 },
		{ CODE("\xe8\x00\x01\x00\x00"), "callq 0x1105", CODE_CALL, false, true, 0x1105 },
		{ CODE("\xff\xe0"), "jmpq *%rax", CODE_JUMP, false, false, 0 },
		{ CODE("\xff\x10"), "callq *(%rax)", CODE_CALL, false, false, 0 },
		{ CODE("\xc3"), "retq", CODE_RETURN, false, false, 0 },
		{ CODE("\xf0\x0f\xb1\x11"), "lock cmpxchgl %edx, (%rcx)", CODE_PLAIN, false, false, 0 },
		{ CODE("\x0f\x0b"), "ud2", CODE_PLAIN, false, false, 0 },
	};
	expect_spelled(&x86_64, CODE_ATT, ROWS(rows));
}

TEST("Intel syntax and 32-bit code are spelled as such")
{
	static const struct spelled intel[] = {
		{ CODE("\x48\x8b\x44\x24\x08"), "mov rax, qword ptr [rsp + 8]", CODE_PLAIN, false, false, 0 },
		{ CODE("\xc3"), "ret", CODE_RETURN, false, false, 0 },
		{ CODE("\x75\xfe"), "jne 0x1000", CODE_JUMP, true, true, 0x1000 },
	};
	static const struct spelled i386[] = {
		{ CODE("\x40"), "incl %eax", CODE_PLAIN, false, false, 0 },
		{ CODE("\xc2\x04\x00"), "retl $4", CODE_RETURN, false, false, 0 },
	};
	expect_spelled(&x86_64, CODE_INTEL, ROWS(intel));
	expect_spelled(&(struct code_machine){ EM_386 }, CODE_ATT, ROWS(i386));
}

TEST("instructions of other machines have their kind and target")
{
	static const struct spelled arm64[] = {
		{ CODE("\x04\x00\x00\x14"), "b #0x1010", CODE_JUMP, false, true, 0x1010 },
		{ CODE("\x04\x00\x00\x94"), "bl #0x1010", CODE_CALL, false, true, 0x1010 },
		{ CODE("\x80\x00\x00\x54"), "b.eq #0x1010", CODE_JUMP, true, true, 0x1010 },
		{ CODE("\x80\x00\x00\xb4"), "cbz x0, #0x1010", CODE_JUMP, true, true, 0x1010 },
		{ CODE("\x00\x00\x1f\xd6"), "br x0", CODE_JUMP, false, false, 0 },
		{ CODE("\xc0\x03\x5f\xd6"), "ret", CODE_RETURN, false, false, 0 },
		{ CODE("\x00\x00\x20\xd4"), "brk #0", CODE_PLAIN, false, false, 0 },
		{ CODE("\x41\x7c\xc3\x9b"), "umulh x1, x2, x3", CODE_PLAIN, false, false, 0 },
	};
	static const struct spelled arm[] = {
		{ CODE("\x02\x00\x00\xea"), "b #0x1010", CODE_JUMP, false, true, 0x1010 },
		{ CODE("\x02\x00\x00\x0a"), "beq #0x1010", CODE_JUMP, true, true, 0x1010 },
		{ CODE("\x02\x00\x00\xeb"), "bl #0x1010", CODE_CALL, false, true, 0x1010 },
		{ CODE("\x1e\xff\x2f\xe1"), "bx lr", CODE_RETURN, false, false, 0 },
		{ CODE("\x10\x80\xbd\xe8"), "pop {r4, pc}", CODE_RETURN, false, false, 0 },
	};
	static const struct spelled ppc64[] = {
		{ CODE("\x10\x00\x00\x48"), "b 0x1010", CODE_JUMP, false, true, 0x1010 },
		{ CODE("\x11\x00\x00\x48"), "bl 0x1010", CODE_CALL, false, true, 0x1010 },
		{ CODE("\x20\x00\x80\x4e"), "blr", CODE_RETURN, false, false, 0 },
	};
	static const struct spelled s390[] = {
		{ CODE("\xa7\xf4\x00\x08"), "j 0x1010", CODE_JUMP, false, true, 0x1010 },
		{ CODE("\xc0\xe5\x00\x00\x00\x08"), "brasl %r14, 0x1010", CODE_CALL, false, true, 0x1010 },
		{ CODE("\x07\xfe"), "br %r14", CODE_RETURN, false, false, 0 },
	};
	expect_spelled(&(struct code_machine){ EM_AARCH64, .is64 = true }, CODE_ATT, ROWS(arm64));
	expect_spelled(&(struct code_machine){ EM_ARM }, CODE_ATT, ROWS(arm));
	expect_spelled(&(struct code_machine){ EM_PPC64, .is64 = true }, CODE_ATT, ROWS(ppc64));
	expect_spelled(&(struct code_machine){ EM_S390, .is64 = true, .big_endian = true }, CODE_ATT, ROWS(s390));
}

TEST("an operand relative to the instruction pointer gives its address, in both syntaxes")
{
	static const char ahead[] = "\x48\x8d\x35\x60\x2e\x00\x00", behind[] = "\x48\x8b\x05\xf0\xff\xff\xff";
	struct instruction in;
	for (unsigned syntax = CODE_ATT; syntax <= CODE_INTEL; syntax++) {
		EXPECT_INT(disassemble(&x86_64, syntax, ahead, 7, 0x11f9, &in, 1), 1);
		EXPECT(in.refers);
		EXPECT_INT(in.reference, 0x4060);
		EXPECT_INT(disassemble(&x86_64, syntax, behind, 7, 0x1000, &in, 1), 1);
		EXPECT_INT(in.reference, 0xff7);
	}
	EXPECT_INT(disassemble(&x86_64, CODE_ATT, "\xc3", 1, 0, &in, 1), 1);
	EXPECT(!in.refers);
}

TEST("bytes that are no instruction are covered one unit at a time, and so is a cut instruction")
{
	struct instruction in[4];
	EXPECT_INT(disassemble(&x86_64, CODE_ATT, "\x06\x90\xe8\x00", 4, 0x10, in, 4), 4);
	EXPECT_INT(in[0].kind, CODE_BAD);
	EXPECT_INT(in[0].length, 1);
	EXPECT_INT(in[1].kind, CODE_PLAIN);
	EXPECT_INT(in[1].address, 0x11);
	EXPECT_INT(in[2].kind, CODE_BAD);
	const struct code_machine arm64 = { EM_AARCH64, .is64 = true };
	EXPECT_INT(disassemble(&arm64, CODE_ATT, "\xff\xff\xff\xff\x1f\x20", 6, 0, in, 4), 2);
	EXPECT_INT(in[0].kind, CODE_BAD);
	EXPECT_INT(in[0].length, 4);
	EXPECT_INT(in[1].length, 2);
	EXPECT_INT(in[1].address, 4);
}

TEST("behind an instruction of masks or vectors that capstone does not know, the next one follows, up to the end of the code")
{
	static const char code[] = "\xc5\xfb\x92\xc9\xc3\xc5\xfb\x92\xc9";
	struct instruction in[6];
	EXPECT_INT(disassemble(&x86_64, CODE_ATT, code, sizeof code - 1, 0x10, in, 6), 3);
	EXPECT_INT(in[0].length, 4);
	EXPECT_INT(in[1].address, 0x14);
	EXPECT_INT(in[1].kind, CODE_RETURN);
	EXPECT_INT(in[2].address, 0x15);
}

TEST("the text of a byte that is no instruction is its value")
{
	struct disassembler *d;
	struct span code = { (const uint8_t *)"\x06", 1 };
	uint64_t address = 0;
	struct instruction in;
	EXPECT_INT(disassembler_open(&d, &x86_64, CODE_ATT, NULL), 0);
	EXPECT(disassembler_next(d, &code, &address, &in));
	EXPECT_STR(in.mnemonic, ".byte");
	EXPECT_STR(in.operands, "0x6");
	EXPECT(!disassembler_next(d, &code, &address, &in));
	disassembler_close(d);
}

TEST("a machine that capstone 4 does not know is refused")
{
	struct disassembler *d;
	struct error err = { 0 };
	EXPECT(disassembler_open(&d, &(struct code_machine){ EM_SPARCV9, .is64 = true }, CODE_ATT, &err) < 0);
	EXPECT_INT(err.kind, ERROR_UNSUPPORTED);
	EXPECT(strstr(err.text, "43") != NULL);
}
