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

/* Encodings by clang, texts by objdump of binutils, but for the i of immediate operands. */
TEST("instructions of every form have objdump's text, register by register")
{
	static const struct {
		uint32_t code;
		const char *text;
	} rows[] = {
		{ 0x43c8, "lw a0,4(a5)" }, { 0x5f64, "lw s1,124(a4)" }, { 0x6788, "ld a0,8(a5)" }, { 0x7ee0, "ld s0,248(a3)" },
		{ 0x2b88, "fld fa0,16(a5)" }, { 0xc0d0, "sw a2,4(s1)" }, { 0xf874, "sd a3,240(s0)" }, { 0xa504, "fsd fs1,8(a0)" },
		{ 0x1ff8, "addi a4,sp,1020" }, { 0x0001, "nop" }, { 0x1681, "addi a3,a3,-32" }, { 0x02fd, "addi t0,t0,31" },
		{ 0x377d, "addiw a4,a4,-1" }, { 0x2bfd, "addiw s7,s7,31" }, { 0x5901, "li s2,-32" }, { 0x4ffd, "li t6,31" },
		{ 0x69fd, "lui s3,0x1f" }, { 0x617d, "addi sp,sp,496" }, { 0x7101, "addi sp,sp,-512" }, { 0x8105, "srli a0,a0,0x1" },
		{ 0x93fd, "srli a5,a5,0x3f" }, { 0x9405, "srai s0,s0,0x21" }, { 0x9981, "andi a1,a1,-32" }, { 0x8a7d, "andi a2,a2,31" },
		{ 0x8c0d, "sub s0,s0,a1" }, { 0x8e25, "xor a2,a2,s1" }, { 0x8ed9, "or a3,a3,a4" }, { 0x8fe9, "and a5,a5,a0" },
		{ 0x9c91, "subw s1,s1,a2" }, { 0x9f3d, "addw a4,a4,a5" }, { 0x1e7e, "slli t3,t3,0x3f" }, { 0x0886, "slli a7,a7,0x1" },
		{ 0x39fe, "fld fs3,504(sp)" }, { 0x2022, "fld ft0,8(sp)" }, { 0x5f7e, "lw t5,252(sp)" }, { 0x4092, "lw ra,4(sp)" },
		{ 0x7dfe, "ld s11,504(sp)" }, { 0x6322, "ld t1,8(sp)" }, { 0x83e2, "mv t2,s8" }, { 0x9cf6, "add s9,s9,t4" },
		{ 0x8282, "jr t0" }, { 0x9a02, "jalr s4" }, { 0xbfea, "fsd fs10,504(sp)" }, { 0xdf9e, "sw t2,252(sp)" },
		{ 0xffda, "sd s6,504(sp)" }, { 0xe42e, "sd a1,8(sp)" }, { 0x800f8503, "lb a0,-2048(t6)" },
		{ 0x7ff59903, "lh s2,2047(a1)" }, { 0x00412e03, "lw t3,4(sp)" }, { 0x00144703, "lbu a4,1(s0)" },
		{ 0x0024d783, "lhu a5,2(s1)" }, { 0x00396803, "lwu a6,3(s2)" }, { 0xfe588fa3, "sb t0,-1(a7)" },
		{ 0x806d9023, "sh t1,-2048(s11)" }, { 0x7e7d2fa3, "sw t2,2047(s10)" }, { 0x00462587, "flw fa1,4(a2)" },
		{ 0xff86b187, "fld ft3,-8(a3)" }, { 0x01272627, "fsw fs2,12(a4)" }, { 0xfee7b827, "fsd fa4,-16(a5)" },
		{ 0xffb62593, "slti a1,a2,-5" }, { 0x00773693, "sltiu a3,a4,7" }, { 0x00984793, "xori a5,a6,9" },
		{ 0xff79e913, "ori s2,s3,-9" }, { 0x1ffafa13, "andi s4,s5,511" }, { 0x03fe9e13, "slli t3,t4,0x3f" },
		{ 0x001fdf13, "srli t5,t6,0x1" }, { 0x4215d513, "srai a0,a1,0x21" }, { 0xff96861b, "addiw a2,a3,-7" },
		{ 0x01f7971b, "slliw a4,a5,0x1f" }, { 0x0018d81b, "srliw a6,a7,0x1" }, { 0x4119549b, "sraiw s1,s2,0x11" },
		{ 0x407302b3, "sub t0,t1,t2" }, { 0x015a19b3, "sll s3,s4,s5" }, { 0x018bab33, "slt s6,s7,s8" },
		{ 0x01bd3cb3, "sltu s9,s10,s11" }, { 0x01eece33, "xor t3,t4,t5" }, { 0x00c5d533, "srl a0,a1,a2" },
		{ 0x40f756b3, "sra a3,a4,a5" }, { 0x0098e833, "or a6,a7,s1" }, { 0x0149f933, "and s2,s3,s4" },
		{ 0x007302bb, "addw t0,t1,t2" }, { 0x40d605bb, "subw a1,a2,a3" }, { 0x037b0abb, "mulw s5,s6,s7" },
		{ 0x03ff0eb3, "mul t4,t5,t6" }, { 0x02c59533, "mulh a0,a1,a2" }, { 0x02f726b3, "mulhsu a3,a4,a5" },
		{ 0x0298b833, "mulhu a6,a7,s1" }, { 0x0349d933, "divu s2,s3,s4" }, { 0x037b6ab3, "rem s5,s6,s7" },
		{ 0x03acfc33, "remu s8,s9,s10" }, { 0x02d645bb, "divw a1,a2,a3" }, { 0x0307f73b, "remuw a4,a5,a6" },
		{ 0xffc60367, "jalr t1,-4(a2)" }, { 0xfffff9b7, "lui s3,0xfffff" }, { 0x00359573, "fscsr a0,a1" },
		{ 0x0031e073, "csrsi fcsr,3" }, { 0x08b6252f, "amoswap.w a0,a1,(a2)" }, { 0xe329b4af, "amomaxu.d.rl s1,s2,(s3)" },
		{ 0x1c63b2af, "sc.d.aq t0,t1,(t2)" }, { 0x68c5f543, "fmadd.s fa0,fa1,fa2,fa3" },
		{ 0x1a20904b, "fnmsub.d ft0,ft1,ft2,ft3,rtz" }, { 0x5804f453, "fsqrt.s fs0,fs1" },
		{ 0x22d615d3, "fsgnjn.d fa1,fa2,fa3" }, { 0x28628253, "fmin.s ft4,ft5,ft6" }, { 0xa2c58553, "fle.d a0,fa1,fa2" },
		{ 0xe00716d3, "fclass.s a3,fa4" }, { 0x4015f553, "fcvt.s.d fa0,fa1" }, { 0xc036b653, "fcvt.lu.s a2,fa3,rup" },
		{ 0xd229f953, "fcvt.d.l fs2,s3" }, { 0xe2078753, "fmv.x.d a4,fa5" }, { 0xf00f83d3, "fmv.w.x ft7,t6" },
		{ 0x0000100f, "fence.i" }, { 0x00000073, "ecall" }, { 0x12b50073, "sfence.vma a0,a1" }, { 0x30200073, "mret" },
		{ 0x10500073, "wfi" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		expect_last((const uint16_t[]){ rows[i].code & 0xffff, (uint16_t)(rows[i].code >> 16) }, (rows[i].code & 3) == 3 ? 2 : 1, rows[i].text);
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
