#include "code/riscv.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An instruction: those bits that `mask` selects equal `match`. The first row that fits decides; pseudo-instructions precede the general
 * ones. Operands: d s t: registers; D S T R: floating-point registers; i: signed 12 bits; u: upper 20 bits; l: offset(s) of loads; w: of
 * stores; b j: targets; > <: shift by 5 or 6 bits; m: rounding mode; z: unsigned 5 bits; c: control register; P Q: fence; others: as they
 * are. */
struct row {
	uint32_t match, mask;
	const char *name, *operands;
};

enum { MASK_F3 = 0x707f, MASK_R = 0xfe00707f, MASK_ROUND = 0xfe00007f, MASK_UNARY = 0xfff0707f, MASK_UNARY_ROUND = 0xfff0007f };

/* Fields of encodings. */
#define F3(n) ((uint32_t)(n) << 12)
#define F7(n) ((uint32_t)(n) << 25)
#define RS2(n) ((uint32_t)(n) << 20)
#define RS1(n) ((uint32_t)(n) << 15)
#define RD(n) ((uint32_t)(n) << 7)
#define IMM(n) ((uint32_t)(n) << 20)

/* A computation of single (f) and double (f + 1) precision, dynamic and static rounding. */
#define FLOAT(f, word, ops)                                                                                             \
	{ F7(f) | F3(7) | 0x53, MASK_R, word ".s", ops }, { F7(f) | 0x53, MASK_ROUND, word ".s", ops ",m" },                  \
	{ F7(f + 1) | F3(7) | 0x53, MASK_R, word ".d", ops }, { F7(f + 1) | 0x53, MASK_ROUND, word ".d", ops ",m" }
#define FLOAT_EXACT(f, f3, word, ops)                                                                                   \
	{ F7(f) | F3(f3) | 0x53, MASK_R, word ".s", ops }, { F7(f + 1) | F3(f3) | 0x53, MASK_R, word ".d", ops }
#define FUSED(opcode, word)                                                                                             \
	{ F3(7) | opcode, 0x0600707f, word ".s", "D,S,T,R" }, { opcode, 0x0600007f, word ".s", "D,S,T,R,m" },                 \
	{ F7(1) | F3(7) | opcode, 0x0600707f, word ".d", "D,S,T,R" }, { F7(1) | opcode, 0x0600007f, word ".d", "D,S,T,R,m" }
#define CONVERT(f, n, word, ops)                                                                                        \
	{ F7(f) | RS2(n) | F3(7) | 0x53, MASK_UNARY, word, ops }, { F7(f) | RS2(n) | 0x53, MASK_UNARY_ROUND, word, ops ",m" }

static const struct row rows[] = {
	{ 0x00000013, 0xffffffff, "nop", "" }, { F3(0) | 0x13, 0xff07f, "li", "d,i" },
	{ F3(0) | 0x13, 0xfff0707f, "mv", "d,s" }, { IMM(255) | F3(7) | 0x13, 0xfff0707f, "zext.b", "d,s" },
	{ IMM(0xfff) | F3(4) | 0x13, 0xfff0707f, "not", "d,s" }, { IMM(1) | F3(3) | 0x13, 0xfff0707f, "seqz", "d,s" },
	{ F3(0) | 0x13, MASK_F3, "addi", "d,s,i" }, { F3(2) | 0x13, MASK_F3, "slti", "d,s,i" }, { F3(3) | 0x13, MASK_F3, "sltiu", "d,s,i" },
	{ F3(4) | 0x13, MASK_F3, "xori", "d,s,i" }, { F3(6) | 0x13, MASK_F3, "ori", "d,s,i" }, { F3(7) | 0x13, MASK_F3, "andi", "d,s,i" },
	{ F3(1) | 0x13, 0xfc00707f, "slli", "d,s,<" }, { F3(5) | 0x13, 0xfc00707f, "srli", "d,s,<" },
	{ 0x40005013, 0xfc00707f, "srai", "d,s,<" },
	{ F3(0) | 0x1b, 0xfff0707f, "sext.w", "d,s" }, { F3(0) | 0x1b, MASK_F3, "addiw", "d,s,i" },
	{ F3(1) | 0x1b, MASK_R, "slliw", "d,s,>" }, { F3(5) | 0x1b, MASK_R, "srliw", "d,s,>" }, { 0x4000501b, MASK_R, "sraiw", "d,s,>" },
	{ 0x37, 0x7f, "lui", "d,u" }, { 0x17, 0x7f, "auipc", "d,u" },
	{ 0x03, MASK_F3, "lb", "d,l" }, { F3(1) | 0x03, MASK_F3, "lh", "d,l" }, { F3(2) | 0x03, MASK_F3, "lw", "d,l" },
	{ F3(3) | 0x03, MASK_F3, "ld", "d,l" }, { F3(4) | 0x03, MASK_F3, "lbu", "d,l" }, { F3(5) | 0x03, MASK_F3, "lhu", "d,l" },
	{ F3(6) | 0x03, MASK_F3, "lwu", "d,l" }, { F3(2) | 0x07, MASK_F3, "flw", "D,l" }, { F3(3) | 0x07, MASK_F3, "fld", "D,l" },
	{ 0x23, MASK_F3, "sb", "t,w" }, { F3(1) | 0x23, MASK_F3, "sh", "t,w" }, { F3(2) | 0x23, MASK_F3, "sw", "t,w" },
	{ F3(3) | 0x23, MASK_F3, "sd", "t,w" }, { F3(2) | 0x27, MASK_F3, "fsw", "T,w" }, { F3(3) | 0x27, MASK_F3, "fsd", "T,w" },
	{ F3(0) | 0x63, 0x1f0707f, "beqz", "s,b" }, { F3(1) | 0x63, 0x1f0707f, "bnez", "s,b" }, { F3(5) | 0x63, 0xff07f, "blez", "t,b" },
	{ F3(5) | 0x63, 0x1f0707f, "bgez", "s,b" }, { F3(4) | 0x63, 0x1f0707f, "bltz", "s,b" }, { F3(4) | 0x63, 0xff07f, "bgtz", "t,b" },
	{ F3(0) | 0x63, MASK_F3, "beq", "s,t,b" }, { F3(1) | 0x63, MASK_F3, "bne", "s,t,b" }, { F3(4) | 0x63, MASK_F3, "blt", "s,t,b" },
	{ F3(5) | 0x63, MASK_F3, "bge", "s,t,b" }, { F3(6) | 0x63, MASK_F3, "bltu", "s,t,b" }, { F3(7) | 0x63, MASK_F3, "bgeu", "s,t,b" },
	{ 0x6f, 0xfff, "j", "j" }, { RD(1) | 0x6f, 0xfff, "jal", "j" }, { 0x6f, 0x7f, "jal", "d,j" },
	{ RS1(1) | 0x67, 0xffffffff, "ret", "" }, { 0x67, 0xfff07fff, "jr", "s" }, { 0x67, 0x7fff, "jr", "l" },
	{ RD(1) | 0x67, 0xfff07fff, "jalr", "s" }, { RD(1) | 0x67, 0x7fff, "jalr", "l" }, { 0x67, 0xfff0707f, "jalr", "d,s" },
	{ 0x67, MASK_F3, "jalr", "d,l" },
	{ 0x40000033, 0xfe0ff07f, "neg", "d,t" }, { F3(3) | 0x33, 0xfe0ff07f, "snez", "d,t" },
	{ F3(2) | 0x33, MASK_UNARY, "sltz", "d,s" },
	{ F3(2) | 0x33, 0xfe0ff07f, "sgtz", "d,t" }, { 0x4000003b, 0xfe0ff07f, "negw", "d,t" },
	{ 0x33, MASK_R, "add", "d,s,t" }, { 0x40000033, MASK_R, "sub", "d,s,t" }, { F3(1) | 0x33, MASK_R, "sll", "d,s,t" },
	{ F3(2) | 0x33, MASK_R, "slt", "d,s,t" }, { F3(3) | 0x33, MASK_R, "sltu", "d,s,t" }, { F3(4) | 0x33, MASK_R, "xor", "d,s,t" },
	{ F3(5) | 0x33, MASK_R, "srl", "d,s,t" }, { 0x40005033, MASK_R, "sra", "d,s,t" }, { F3(6) | 0x33, MASK_R, "or", "d,s,t" },
	{ F3(7) | 0x33, MASK_R, "and", "d,s,t" }, { 0x3b, MASK_R, "addw", "d,s,t" }, { 0x4000003b, MASK_R, "subw", "d,s,t" },
	{ F3(1) | 0x3b, MASK_R, "sllw", "d,s,t" }, { F3(5) | 0x3b, MASK_R, "srlw", "d,s,t" }, { 0x4000503b, MASK_R, "sraw", "d,s,t" },
	{ F7(1) | 0x33, MASK_R, "mul", "d,s,t" }, { F7(1) | F3(1) | 0x33, MASK_R, "mulh", "d,s,t" },
	{ F7(1) | F3(2) | 0x33, MASK_R, "mulhsu", "d,s,t" }, { F7(1) | F3(3) | 0x33, MASK_R, "mulhu", "d,s,t" },
	{ F7(1) | F3(4) | 0x33, MASK_R, "div", "d,s,t" }, { F7(1) | F3(5) | 0x33, MASK_R, "divu", "d,s,t" },
	{ F7(1) | F3(6) | 0x33, MASK_R, "rem", "d,s,t" }, { F7(1) | F3(7) | 0x33, MASK_R, "remu", "d,s,t" },
	{ F7(1) | 0x3b, MASK_R, "mulw", "d,s,t" }, { F7(1) | F3(4) | 0x3b, MASK_R, "divw", "d,s,t" },
	{ F7(1) | F3(5) | 0x3b, MASK_R, "divuw", "d,s,t" }, { F7(1) | F3(6) | 0x3b, MASK_R, "remw", "d,s,t" },
	{ F7(1) | F3(7) | 0x3b, MASK_R, "remuw", "d,s,t" },
	{ 0x0ff0000f, 0xffffffff, "fence", "" }, { 0x0100000f, 0xffffffff, "pause", "" }, { 0x8330000f, 0xfff0707f, "fence.tso", "" },
	{ F3(0) | 0x0f, MASK_F3, "fence", "P,Q" }, { F3(1) | 0x0f, MASK_F3, "fence.i", "" },
	{ 0x00000073, 0xffffffff, "ecall", "" }, { 0x00100073, 0xffffffff, "ebreak", "" }, { 0x10200073, 0xffffffff, "sret", "" },
	{ 0x30200073, 0xffffffff, "mret", "" }, { 0x10500073, 0xffffffff, "wfi", "" }, { 0xc0001073, 0xffffffff, "unimp", "" },
	{ 0x12000073, 0xffffffff, "sfence.vma", "" }, { 0x12000073, 0xfff07fff, "sfence.vma", "s" },
	{ 0x12000073, 0xfe007fff, "sfence.vma", "s,t" },
	{ IMM(0xc00) | F3(2) | 0x73, 0xfffff07f, "rdcycle", "d" }, { IMM(0xc01) | F3(2) | 0x73, 0xfffff07f, "rdtime", "d" },
	{ IMM(0xc02) | F3(2) | 0x73, 0xfffff07f, "rdinstret", "d" }, { IMM(1) | F3(2) | 0x73, 0xfffff07f, "frflags", "d" },
	{ IMM(2) | F3(2) | 0x73, 0xfffff07f, "frrm", "d" }, { IMM(3) | F3(2) | 0x73, 0xfffff07f, "frcsr", "d" },
	{ IMM(1) | F3(1) | 0x73, 0xfff07fff, "fsflags", "s" }, { IMM(1) | F3(1) | 0x73, 0xfff0707f, "fsflags", "d,s" },
	{ IMM(2) | F3(1) | 0x73, 0xfff07fff, "fsrm", "s" }, { IMM(2) | F3(1) | 0x73, 0xfff0707f, "fsrm", "d,s" },
	{ IMM(3) | F3(1) | 0x73, 0xfff07fff, "fscsr", "s" }, { IMM(3) | F3(1) | 0x73, 0xfff0707f, "fscsr", "d,s" },
	{ F3(2) | 0x73, 0xff07f, "csrr", "d,c" }, { F3(1) | 0x73, 0x7fff, "csrw", "c,s" }, { F3(2) | 0x73, 0x7fff, "csrs", "c,s" },
	{ F3(3) | 0x73, 0x7fff, "csrc", "c,s" }, { F3(5) | 0x73, 0x7fff, "csrwi", "c,z" }, { F3(6) | 0x73, 0x7fff, "csrsi", "c,z" },
	{ F3(7) | 0x73, 0x7fff, "csrci", "c,z" }, { F3(1) | 0x73, MASK_F3, "csrrw", "d,c,s" }, { F3(2) | 0x73, MASK_F3, "csrrs", "d,c,s" },
	{ F3(3) | 0x73, MASK_F3, "csrrc", "d,c,s" }, { F3(5) | 0x73, MASK_F3, "csrrwi", "d,c,z" }, { F3(6) | 0x73, MASK_F3, "csrrsi", "d,c,z" },
	{ F3(7) | 0x73, MASK_F3, "csrrci", "d,c,z" },
	FUSED(0x43, "fmadd"), FUSED(0x47, "fmsub"), FUSED(0x4b, "fnmsub"), FUSED(0x4f, "fnmadd"),
	FLOAT(0x00, "fadd", "D,S,T"), FLOAT(0x04, "fsub", "D,S,T"), FLOAT(0x08, "fmul", "D,S,T"), FLOAT(0x0c, "fdiv", "D,S,T"),
	FLOAT(0x2c, "fsqrt", "D,S"), FLOAT_EXACT(0x10, 0, "fsgnj", "D,S,T"), FLOAT_EXACT(0x10, 1, "fsgnjn", "D,S,T"),
	FLOAT_EXACT(0x10, 2, "fsgnjx", "D,S,T"), FLOAT_EXACT(0x14, 0, "fmin", "D,S,T"), FLOAT_EXACT(0x14, 1, "fmax", "D,S,T"),
	FLOAT_EXACT(0x50, 0, "fle", "d,S,T"), FLOAT_EXACT(0x50, 1, "flt", "d,S,T"), FLOAT_EXACT(0x50, 2, "feq", "d,S,T"),
	FLOAT_EXACT(0x70, 1, "fclass", "d,S"),
	{ F7(0x20) | RS2(1) | F3(7) | 0x53, MASK_UNARY, "fcvt.s.d", "D,S" }, { F7(0x20) | RS2(1) | 0x53, MASK_UNARY_ROUND, "fcvt.s.d", "D,S,m" },
	{ F7(0x21) | 0x53, MASK_UNARY_ROUND, "fcvt.d.s", "D,S" },
	CONVERT(0x60, 0, "fcvt.w.s", "d,S"), CONVERT(0x60, 1, "fcvt.wu.s", "d,S"), CONVERT(0x60, 2, "fcvt.l.s", "d,S"),
	CONVERT(0x60, 3, "fcvt.lu.s", "d,S"), CONVERT(0x61, 0, "fcvt.w.d", "d,S"), CONVERT(0x61, 1, "fcvt.wu.d", "d,S"),
	CONVERT(0x61, 2, "fcvt.l.d", "d,S"), CONVERT(0x61, 3, "fcvt.lu.d", "d,S"), CONVERT(0x68, 0, "fcvt.s.w", "D,s"),
	CONVERT(0x68, 1, "fcvt.s.wu", "D,s"), CONVERT(0x68, 2, "fcvt.s.l", "D,s"), CONVERT(0x68, 3, "fcvt.s.lu", "D,s"),
	{ F7(0x69) | 0x53, MASK_UNARY_ROUND, "fcvt.d.w", "D,s" }, { F7(0x69) | RS2(1) | 0x53, MASK_UNARY_ROUND, "fcvt.d.wu", "D,s" },
	CONVERT(0x69, 2, "fcvt.d.l", "D,s"), CONVERT(0x69, 3, "fcvt.d.lu", "D,s"),
	{ F7(0x70) | 0x53, MASK_UNARY, "fmv.x.w", "d,S" }, { F7(0x71) | 0x53, MASK_UNARY, "fmv.x.d", "d,S" },
	{ F7(0x78) | 0x53, MASK_UNARY, "fmv.w.x", "D,s" }, { F7(0x79) | 0x53, MASK_UNARY, "fmv.d.x", "D,s" },
};

static const char *const names[] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5",
	"s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

static const char *const float_names[] = {
	"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "fs2",
	"fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
};

static uint32_t bits(uint32_t word, unsigned first, unsigned count)
{
	return word >> first & (((uint32_t)1 << count) - 1);
}

static int32_t extend(uint32_t value, unsigned width)
{
	return (int32_t)(value << (32 - width)) >> (32 - width);
}

static int32_t immediate(uint32_t word)
{
	return extend(bits(word, 20, 12), 12);
}

static int32_t store_offset(uint32_t word)
{
	return extend(bits(word, 25, 7) << 5 | bits(word, 7, 5), 12);
}

static int32_t branch_offset(uint32_t word)
{
	return extend(bits(word, 31, 1) << 12 | bits(word, 7, 1) << 11 | bits(word, 25, 6) << 5 | bits(word, 8, 4) << 1, 13);
}

static int32_t jump_offset(uint32_t word)
{
	return extend(bits(word, 31, 1) << 20 | bits(word, 12, 8) << 12 | bits(word, 20, 1) << 11 | bits(word, 21, 10) << 1, 21);
}

/* The encoders of what compressed instructions abbreviate. */
static uint32_t as_load(uint32_t opcode, uint32_t rd, uint32_t rs1, int32_t offset)
{
	return opcode | RD(rd) | RS1(rs1) | IMM(bits((uint32_t)offset, 0, 12));
}

static uint32_t as_store(uint32_t opcode, uint32_t rs2, uint32_t rs1, uint32_t offset)
{
	return opcode | RS2(rs2) | RS1(rs1) | bits(offset, 5, 7) << 25 | bits(offset, 0, 5) << 7;
}

static uint32_t as_branch(uint32_t opcode, uint32_t rs1, int32_t offset)
{
	uint32_t u = (uint32_t)offset;
	return opcode | RS1(rs1) | bits(u, 12, 1) << 31 | bits(u, 5, 6) << 25 | bits(u, 1, 4) << 8 | bits(u, 11, 1) << 7;
}

static uint32_t as_jump(int32_t offset)
{
	uint32_t u = (uint32_t)offset;
	return 0x6f | bits(u, 20, 1) << 31 | bits(u, 1, 10) << 21 | bits(u, 11, 1) << 20 | bits(u, 12, 8) << 12;
}

/* Quadrant 0: loads and stores of the eight common registers. 0: no instruction. */
static uint32_t expand_0(uint32_t c)
{
	uint32_t rd = 8 + bits(c, 2, 3), rs1 = 8 + bits(c, 7, 3);
	uint32_t word = bits(c, 5, 1) << 6 | bits(c, 10, 3) << 3 | bits(c, 6, 1) << 2, twice = bits(c, 5, 2) << 6 | bits(c, 10, 3) << 3;
	uint32_t stack = bits(c, 7, 4) << 6 | bits(c, 11, 2) << 4 | bits(c, 5, 1) << 3 | bits(c, 6, 1) << 2;
	switch (bits(c, 13, 3)) {
	case 0: return stack ? as_load(0x13, rd, 2, (int32_t)stack) : 0;
	case 1: return as_load(F3(3) | 0x07, rd, rs1, (int32_t)twice);
	case 2: return as_load(F3(2) | 0x03, rd, rs1, (int32_t)word);
	case 3: return as_load(F3(3) | 0x03, rd, rs1, (int32_t)twice);
	case 5: return as_store(F3(3) | 0x27, rd, rs1, twice);
	case 6: return as_store(F3(2) | 0x23, rd, rs1, word);
	case 7: return as_store(F3(3) | 0x23, rd, rs1, twice);
	default: return 0;
	}
}

static uint32_t expand_arithmetic(uint32_t c)
{
	static const uint32_t two[8] = { 0x40000033, F3(4) | 0x33, F3(6) | 0x33, F3(7) | 0x33, 0x4000003b, 0x3b, 0, 0 };
	uint32_t rd = 8 + bits(c, 7, 3), rs2 = 8 + bits(c, 2, 3), shift = bits(c, 12, 1) << 5 | bits(c, 2, 5);
	switch (bits(c, 10, 2)) {
	case 0: return as_load(F3(5) | 0x13, rd, rd, (int32_t)shift);
	case 1: return as_load(0x40005013, rd, rd, (int32_t)shift);
	case 2: return as_load(F3(7) | 0x13, rd, rd, extend(shift, 6));
	default: break;
	}
	uint32_t row = two[bits(c, 12, 1) << 2 | bits(c, 5, 2)];
	return row ? row | RD(rd) | RS1(rd) | RS2(rs2) : 0;
}

static uint32_t expand_1(uint32_t c)
{
	uint32_t rd = bits(c, 7, 5), value = bits(c, 12, 1) << 5 | bits(c, 2, 5);
	int32_t stack = extend(bits(c, 12, 1) << 9 | bits(c, 3, 2) << 7 | bits(c, 5, 1) << 6 | bits(c, 2, 1) << 5 | bits(c, 6, 1) << 4, 10);
	int32_t jump = extend(bits(c, 12, 1) << 11 | bits(c, 8, 1) << 10 | bits(c, 9, 2) << 8 | bits(c, 6, 1) << 7 | bits(c, 7, 1) << 6 |
		bits(c, 2, 1) << 5 | bits(c, 11, 1) << 4 | bits(c, 3, 3) << 1, 12);
	int32_t branch = extend(bits(c, 12, 1) << 8 | bits(c, 5, 2) << 6 | bits(c, 2, 1) << 5 | bits(c, 10, 2) << 3 | bits(c, 3, 2) << 1, 9);
	switch (bits(c, 13, 3)) {
	case 0: return as_load(0x13, rd, rd, extend(value, 6));
	case 1: return rd ? as_load(0x1b, rd, rd, extend(value, 6)) : 0;
	case 2: return as_load(0x13, rd, 0, extend(value, 6));
	case 3:
		if (rd == 2)
			return stack ? as_load(0x13, 2, 2, stack) : 0;
		return value ? 0x37 | RD(rd) | (uint32_t)extend(value, 6) << 12 : 0;
	case 4: return expand_arithmetic(c);
	case 5: return as_jump(jump);
	case 6: return as_branch(0x63, 8 + bits(c, 7, 3), branch);
	default: return as_branch(F3(1) | 0x63, 8 + bits(c, 7, 3), branch);
	}
}

static uint32_t expand_2(uint32_t c)
{
	uint32_t rd = bits(c, 7, 5), rs2 = bits(c, 2, 5), shift = bits(c, 12, 1) << 5 | rs2;
	int32_t word = (int32_t)(bits(c, 2, 2) << 6 | bits(c, 12, 1) << 5 | bits(c, 4, 3) << 2);
	int32_t twice = (int32_t)(bits(c, 2, 3) << 6 | bits(c, 12, 1) << 5 | bits(c, 5, 2) << 3);
	uint32_t store_word = bits(c, 7, 2) << 6 | bits(c, 9, 4) << 2, store_twice = bits(c, 7, 3) << 6 | bits(c, 10, 3) << 3;
	switch (bits(c, 13, 3)) {
	case 0: return as_load(F3(1) | 0x13, rd, rd, (int32_t)shift);
	case 1: return as_load(F3(3) | 0x07, rd, 2, twice);
	case 2: return rd ? as_load(F3(2) | 0x03, rd, 2, word) : 0;
	case 3: return rd ? as_load(F3(3) | 0x03, rd, 2, twice) : 0;
	case 4:
		if (!bits(c, 12, 1))
			return rs2 ? as_load(0x13, rd, rs2, 0) : rd ? as_load(0x67, 0, rd, 0) : 0; /* mv, jr */
		return rs2 ? 0x33 | RD(rd) | RS1(rd) | RS2(rs2) : rd ? as_load(0x67, 1, rd, 0) : 0x00100073;
	case 5: return as_store(F3(3) | 0x27, rs2, 2, store_twice);
	case 6: return as_store(F3(2) | 0x23, rs2, 2, store_word);
	default: return as_store(F3(3) | 0x23, rs2, 2, store_twice);
	}
}

static void add_fence(char *out, size_t size, uint32_t set)
{
	snprintf(out, size, "%s%s%s%s%s", set & 8 ? "i" : "", set & 4 ? "o" : "", set & 2 ? "r" : "", set & 1 ? "w" : "", set ? "" : "unknown");
}

static void add_control(char *out, size_t size, uint32_t number)
{
	static const struct { uint32_t number; const char *name; } known[] = {
		{ 1, "fflags" }, { 2, "frm" }, { 3, "fcsr" }, { 0x100, "sstatus" }, { 0x104, "sie" }, { 0x105, "stvec" }, { 0x106, "scounteren" },
		{ 0x140, "sscratch" }, { 0x141, "sepc" }, { 0x142, "scause" }, { 0x143, "stval" }, { 0x144, "sip" }, { 0x180, "satp" },
		{ 0x300, "mstatus" }, { 0x301, "misa" }, { 0x304, "mie" }, { 0x305, "mtvec" }, { 0x340, "mscratch" }, { 0x341, "mepc" },
		{ 0x342, "mcause" }, { 0x343, "mtval" }, { 0x344, "mip" }, { 0xc00, "cycle" }, { 0xc01, "time" }, { 0xc02, "instret" },
		{ 0xf14, "mhartid" },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].number == number) {
			snprintf(out, size, "%s", known[i].name);
			return;
		}
	snprintf(out, size, "%#x", number);
}

static void add_operand(char *out, size_t size, char kind, uint32_t word, uint64_t address)
{
	static const char *const modes[] = { "rne", "rtz", "rdn", "rup", "rmm", "unknown", "unknown", "dyn" };
	switch (kind) {
	case 'd': snprintf(out, size, "%s", names[bits(word, 7, 5)]); break;
	case 's': snprintf(out, size, "%s", names[bits(word, 15, 5)]); break;
	case 't': snprintf(out, size, "%s", names[bits(word, 20, 5)]); break;
	case 'D': snprintf(out, size, "%s", float_names[bits(word, 7, 5)]); break;
	case 'S': snprintf(out, size, "%s", float_names[bits(word, 15, 5)]); break;
	case 'T': snprintf(out, size, "%s", float_names[bits(word, 20, 5)]); break;
	case 'R': snprintf(out, size, "%s", float_names[bits(word, 27, 5)]); break;
	case 'i': snprintf(out, size, "%d", immediate(word)); break;
	case 'u': snprintf(out, size, "0x%x", bits(word, 12, 20)); break;
	case 'l': snprintf(out, size, "%d(%s)", immediate(word), names[bits(word, 15, 5)]); break;
	case 'w': snprintf(out, size, "%d(%s)", store_offset(word), names[bits(word, 15, 5)]); break;
	case 'b': snprintf(out, size, "%" PRIx64, address + (uint64_t)(int64_t)branch_offset(word)); break;
	case 'j': snprintf(out, size, "%" PRIx64, address + (uint64_t)(int64_t)jump_offset(word)); break;
	case '<': snprintf(out, size, "0x%x", bits(word, 20, 6)); break;
	case '>': snprintf(out, size, "0x%x", bits(word, 20, 5)); break;
	case 'm': snprintf(out, size, "%s", modes[bits(word, 12, 3)]); break;
	case 'z': snprintf(out, size, "%u", bits(word, 15, 5)); break;
	case 'c': add_control(out, size, bits(word, 20, 12)); break;
	case 'P': add_fence(out, size, bits(word, 24, 4)); break;
	case 'Q': add_fence(out, size, bits(word, 20, 4)); break;
	default: snprintf(out, size, "%c", kind); break;
	}
}

/* Atomic operations: the operation, the width and the order are independent of each other. */
static bool spell_atomic(struct riscv *r, uint32_t word)
{
	static const char *const operations[32] = { [0] = "amoadd", [1] = "amoswap", [2] = "lr", [3] = "sc", [4] = "amoxor", [8] = "amoor",
		[12] = "amoand", [16] = "amomin", [20] = "amomax", [24] = "amominu", [28] = "amomaxu" };
	static const char *const orders[] = { "", ".rl", ".aq", ".aqrl" };
	uint32_t width = bits(word, 12, 3);
	const char *operation = operations[bits(word, 27, 5)];
	if (bits(word, 0, 7) != 0x2f || !operation || (width != 2 && width != 3) || (operation[0] == 'l' && bits(word, 20, 5)))
		return false;
	snprintf(r->mnemonic, sizeof r->mnemonic, "%s.%c%s", operation, width == 2 ? 'w' : 'd', orders[bits(word, 25, 2)]);
	snprintf(r->operands, sizeof r->operands, operation[0] == 'l' ? "%s,%.0s(%s)" : "%s,%s,(%s)", names[bits(word, 7, 5)],
		names[bits(word, 20, 5)], names[bits(word, 15, 5)]);
	return true;
}

/* fmv, fneg and fabs: sign injections with two equal operands. */
static bool spell_sign(struct riscv *r, uint32_t word)
{
	static const char *const operations[] = { "fmv", "fneg", "fabs" };
	uint32_t f7 = bits(word, 25, 7), f3 = bits(word, 12, 3);
	if (bits(word, 0, 7) != 0x53 || (f7 != 0x10 && f7 != 0x11) || f3 > 2 || bits(word, 15, 5) != bits(word, 20, 5))
		return false;
	snprintf(r->mnemonic, sizeof r->mnemonic, "%s.%c", operations[f3], f7 == 0x10 ? 's' : 'd');
	snprintf(r->operands, sizeof r->operands, "%s,%s", float_names[bits(word, 7, 5)], float_names[bits(word, 15, 5)]);
	return true;
}

static bool spell(struct riscv *r, uint32_t word, uint64_t address)
{
	size_t row = 0, at = 0;
	if (spell_atomic(r, word) || spell_sign(r, word))
		return true;
	while (row < sizeof rows / sizeof *rows && (word & rows[row].mask) != rows[row].match)
		row++;
	if (row == sizeof rows / sizeof *rows)
		return false;
	snprintf(r->mnemonic, sizeof r->mnemonic, "%s", rows[row].name);
	r->operands[0] = '\0';
	for (const char *kind = rows[row].operands; *kind && at + 1 < sizeof r->operands; kind++) {
		add_operand(r->operands + at, sizeof r->operands - at, *kind, word, address);
		at += strlen(r->operands + at);
	}
	return true;
}

/* Kind and target, and what an auipc before it makes complete. */
static void classify(struct riscv *r, uint32_t word, struct instruction *in)
{
	uint32_t opcode = bits(word, 0, 7), rd = bits(word, 7, 5), rs1 = bits(word, 15, 5);
	bool completes = r->upper_register && rs1 == r->upper_register && r->next == in->address;
	if (opcode == 0x63 || opcode == 0x6f) {
		in->kind = opcode == 0x6f && rd ? CODE_CALL : CODE_JUMP;
		in->conditional = opcode == 0x63;
		in->direct = true;
		in->target = in->address + (uint64_t)(int64_t)(opcode == 0x63 ? branch_offset(word) : jump_offset(word));
	} else if (opcode == 0x67) {
		in->kind = rd ? CODE_CALL : rs1 == 1 ? CODE_RETURN : CODE_JUMP;
		in->direct = completes && in->kind != CODE_RETURN;
		in->target = in->direct ? r->upper + (uint64_t)(int64_t)immediate(word) : 0;
	} else if (completes && (opcode == 0x03 || opcode == 0x07 || word == ((word & ~(uint32_t)MASK_F3) | 0x13))) {
		in->refers = true;
		in->reference = r->upper + (uint64_t)(int64_t)immediate(word);
	} else if (completes && (opcode == 0x23 || opcode == 0x27)) {
		in->refers = true;
		in->reference = r->upper + (uint64_t)(int64_t)store_offset(word);
	}
	r->upper_register = opcode == 0x17 ? rd : 0;
	r->upper = in->address + (uint64_t)(int64_t)(int32_t)(word & 0xfffff000);
	r->next = in->address + in->length;
}

bool riscv_is(const struct code_machine *machine)
{
	return machine->machine == EM_RISCV && machine->is64 && !machine->big_endian;
}

bool riscv_next(struct riscv *r, struct span *code, uint64_t *address, struct instruction *in)
{
	if (!code->len)
		return false;
	uint32_t word = code->data[0] | (code->len > 1 ? (uint32_t)code->data[1] << 8 : 0);
	unsigned length = code->len < 2 ? 1 : (word & 3) == 3 && code->len >= 4 ? 4 : 2;
	bool known = false;
	*in = (struct instruction){ .address = *address, .bytes = code->data, .length = length, .mnemonic = r->mnemonic, .operands = r->operands };
	if (length == 4) {
		word |= (uint32_t)code->data[2] << 16 | (uint32_t)code->data[3] << 24;
		known = spell(r, word, *address);
	} else if (length == 2 && (word & 3) != 3) {
		uint32_t expanded = (word & 3) == 0 ? expand_0(word) : (word & 3) == 1 ? expand_1(word) : expand_2(word);
		known = expanded ? spell(r, expanded, *address) : false;
		if (!word) {
			strcpy(r->mnemonic, "unimp");
			r->operands[0] = '\0';
			known = true;
		}
		word = expanded;
	}
	if (known) {
		classify(r, word, in);
	} else {
		uint32_t raw = 0;
		for (unsigned i = 0; i < length; i++)
			raw |= (uint32_t)code->data[i] << 8 * i;
		in->kind = CODE_BAD;
		snprintf(r->mnemonic, sizeof r->mnemonic, "%s", length == 4 ? ".4byte" : length == 2 ? ".2byte" : ".byte");
		snprintf(r->operands, sizeof r->operands, "%#" PRIx32, raw);
		r->upper_register = 0;
	}
	code->data += length;
	code->len -= length;
	*address += length;
	return true;
}
