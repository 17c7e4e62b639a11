#include "code/riscv.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

/* Expects the text of the last instruction of code at 0x10000. */
static struct instruction expect_last(const uint16_t *halves, size_t count, const char *want)
{
	struct riscv riscv = { 0 };
	uint8_t bytes[64]; /* code is little-endian on every machine */
	for (size_t i = 0; i < count; i++) {
		bytes[2 * i] = (uint8_t)halves[i];
		bytes[2 * i + 1] = (uint8_t)(halves[i] >> 8);
	}
	struct span code = { bytes, count * 2 };
	uint64_t address = 0x10000;
	struct instruction in = { 0 };
	static char text[128];
	while (riscv_next(&riscv, &code, &address, &in))
		;
	snprintf(text, sizeof text, "%s%s%s", in.mnemonic, *in.operands ? " " : "", in.operands);
	EXPECT_STR(text, want);
	EXPECT_INT(address, 0x10000 + count * 2);
	return in;
}
#define WORD(w) (const uint16_t[]){ (w) & 0xffff, (uint32_t)(w) >> 16 }, 2
#define HALF(h) (const uint16_t[]){ h }, 1

TEST("instructions of RISC-V have objdump's text")
{
	expect_last(WORD(0xff010113), "addi sp,sp,-16");
	expect_last(WORD(0x00113423), "sd ra,8(sp)");
	expect_last(WORD(0xfff54513), "not a0,a0");
	expect_last(WORD(0x0ff57513), "zext.b a0,a0");
	expect_last(WORD(0x80000537), "lui a0,0x80000");
	expect_last(WORD(0x00b50533), "add a0,a0,a1");
	expect_last(WORD(0x02b54533), "div a0,a0,a1");
	expect_last(WORD(0x43f55513), "srai a0,a0,0x3f");
	expect_last(WORD(0x00000013), "nop");
	expect_last(WORD(0xc0102573), "rdtime a0");
	expect_last(WORD(0x0ff0000f), "fence");
	expect_last(WORD(0x0310000f), "fence rw,w");
	expect_last(WORD(0x02a58553), "fadd.d fa0,fa1,fa0,rne");
	expect_last(WORD(0x02a5f553), "fadd.d fa0,fa1,fa0");
	expect_last(WORD(0xc2059553), "fcvt.w.d a0,fa1,rtz");
	expect_last(WORD(0x22b58553), "fmv.d fa0,fa1");
	expect_last(WORD(0x1005a52f), "lr.w a0,(a1)");
	expect_last(WORD(0x06c5b52f), "amoadd.d.aqrl a0,a2,(a1)");
}

TEST("compressed instructions have the text of those they abbreviate")
{
	expect_last(HALF(0x1141), "addi sp,sp,-16");
	expect_last(HALF(0xe406), "sd ra,8(sp)");
	expect_last(HALF(0x4501), "li a0,0");
	expect_last(HALF(0x852e), "mv a0,a1");
	expect_last(HALF(0x952e), "add a0,a0,a1");
	expect_last(HALF(0x2501), "sext.w a0,a0");
	expect_last(HALF(0x6785), "lui a5,0x1");
	expect_last(HALF(0x0800), "addi s0,sp,16");
	expect_last(HALF(0x6388), "ld a0,0(a5)");
	expect_last(HALF(0x8d0d), "sub a0,a0,a1");
	expect_last(HALF(0x9002), "ebreak");
	expect_last(HALF(0x0000), "unimp");
}

TEST("jumps, calls and returns have their kinds and targets")
{
	struct instruction in = expect_last(WORD(0xfe050ee3), "beqz a0,fffc");
	EXPECT(in.kind == CODE_JUMP && in.conditional && in.direct && in.target == 0xfffc);
	in = expect_last(HALF(0xbfed), "j fffa");
	EXPECT(in.kind == CODE_JUMP && !in.conditional && in.direct && in.target == 0xfffa);
	in = expect_last(WORD(0x010000ef), "jal 10010");
	EXPECT(in.kind == CODE_CALL && in.direct && in.target == 0x10010);
	in = expect_last(HALF(0x8082), "ret");
	EXPECT(in.kind == CODE_RETURN && !in.direct);
	in = expect_last(HALF(0x9782), "jalr a5");
	EXPECT(in.kind == CODE_CALL && !in.direct);
}

TEST("an auipc and the instruction after it have one address")
{
	struct instruction in = expect_last((const uint16_t[]){ 0x2097, 0x0000, 0x80e7, 0x0040 }, 4, "jalr 4(ra)");
	EXPECT(in.kind == CODE_CALL && in.direct && in.target == 0x12004);
	in = expect_last((const uint16_t[]){ 0x2517, 0x0000, 0x0513, 0xff85 }, 4, "addi a0,a0,-8");
	EXPECT(in.refers && in.reference == 0x11ff8);
	in = expect_last((const uint16_t[]){ 0x2517, 0x0000, 0x0001, 0x0513, 0xff85 }, 5, "addi a0,a0,-8");
	EXPECT(!in.refers);
}

TEST("bytes that are no instruction are shown as such")
{
	struct instruction in = expect_last(WORD(0xffffffff), ".4byte 0xffffffff");
	EXPECT_INT(in.kind, CODE_BAD);
	in = expect_last(HALF(0x9c41), ".2byte 0x9c41");
	EXPECT_INT(in.kind, CODE_BAD);
	struct riscv riscv = { 0 };
	struct span code = { (const uint8_t *)"\x13", 1 };
	uint64_t address = 0;
	EXPECT(riscv_next(&riscv, &code, &address, &in));
	EXPECT_INT(in.length, 1);
	EXPECT(!riscv_next(&riscv, &code, &address, &in));
}
