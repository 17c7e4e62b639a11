#include "record/user_registers.h"

#include "unit.h"

TEST("registers of a sample have their DWARF numbers")
{
	/* BX, BP, SP, IP, R12 of an x86-64 mask */
	const uint64_t mask = 1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 20;
	static const uint64_t values[] = { 0xb, 0xb9, 0x5000, 0x401000, 0x12 };
	struct sample sample = { .regs_user_abi = 2, .regs_user = (const uint8_t *)values };
	struct unwind_input input = { 0 };
	EXPECT(user_registers_of(&sample, mask, UNWIND_X86_64, &input));
	EXPECT_INT(input.arch, UNWIND_X86_64);
	EXPECT_INT(input.registers.pc, 0x401000);
	EXPECT_INT(input.stack_address, 0x5000);
	EXPECT_INT(input.registers.values[3], 0xb);
	EXPECT_INT(input.registers.values[6], 0xb9);
	EXPECT_INT(input.registers.values[12], 0x12);
	EXPECT_INT(input.registers.known, 1 << 3 | 1 << 6 | 1 << 7 | 1 << 12);
}

TEST("32-bit code on a 64-bit machine has other numbers")
{
	const uint64_t mask = 1 << 6 | 1 << 7 | 1 << 8;
	static const uint64_t values[] = { 0xb9, 0x5000, 0x8048000 };
	struct sample sample = { .regs_user_abi = 1, .regs_user = (const uint8_t *)values };
	struct unwind_input input = { 0 };
	EXPECT(user_registers_of(&sample, mask, UNWIND_X86_64, &input));
	EXPECT_INT(input.arch, UNWIND_X86);
	EXPECT_INT(input.registers.values[5], 0xb9);
	EXPECT_INT(input.registers.values[4], 0x5000);
	EXPECT_INT(input.registers.pc, 0x8048000);
}

TEST("without a stack pointer, without registers, or on a machine without rules, no sample is unwound")
{
	static const uint64_t values[] = { 1, 2 };
	struct sample sample = { .regs_user_abi = 2, .regs_user = (const uint8_t *)values };
	struct unwind_input input = { 0 };
	EXPECT(!user_registers_of(&sample, 1 << 6 | 1 << 8, UNWIND_X86_64, &input));
	EXPECT(!user_registers_of(&sample, 1 << 7 | 1 << 8, UNWIND_ARCHES, &input));
	sample.regs_user = NULL;
	EXPECT(!user_registers_of(&sample, 1 << 7 | 1 << 8, UNWIND_X86_64, &input));
	EXPECT_INT(user_registers_arch("s390x"), UNWIND_ARCHES);
}
