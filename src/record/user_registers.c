#include "record/user_registers.h"

#include "arch/isa.h"
#include "arch/registers.h"

enum { ABI_NONE = 0, ABI_32 = 1, ABI_64 = 2, NO_NUMBER = 0xff, REGISTERS_MOST = 33 };

/* By bit of the mask: the register's DWARF number (psABIs: x86-64 3.6.2, i386 2.4.2, AArch64 DWARF 4.1). */
static const struct numbering {
	enum isa isa;
	uint8_t stack_pointer;       /* DWARF number */
	uint8_t count;
	uint8_t numbers[REGISTERS_MOST];
} numberings[UNWIND_ARCHES] = {
	[UNWIND_X86_64] = { ISA_X86, 7, 24, {
		0, 3, 2, 1, 4, 5, 6, 7, NO_NUMBER, NO_NUMBER, NO_NUMBER, NO_NUMBER, NO_NUMBER, NO_NUMBER, NO_NUMBER, NO_NUMBER,
		8, 9, 10, 11, 12, 13, 14, 15 } },
	[UNWIND_X86] = { ISA_X86, 4, 8, { 0, 3, 1, 2, 6, 7, 5, 4 } },
	[UNWIND_AARCH64] = { ISA_ARM64, 31, 32, {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } },
};

enum unwind_arch user_registers_arch(const char *machine)
{
	enum isa isa = isa_of_machine(machine);
	if (isa == ISA_X86)
		return sizeof(long) == 8 ? UNWIND_X86_64 : UNWIND_X86;
	return isa == ISA_ARM64 && sizeof(long) == 8 ? UNWIND_AARCH64 : UNWIND_ARCHES;
}

enum unwind_arch user_registers_arch_of(const struct sample *sample, enum unwind_arch machine)
{
	if (sample->regs_user_abi == ABI_64 || (sample->regs_user_abi == ABI_32 && machine == UNWIND_X86))
		return machine;
	return sample->regs_user_abi == ABI_32 && machine == UNWIND_X86_64 ? UNWIND_X86 : UNWIND_ARCHES;
}

bool user_registers_of(const struct sample *sample, uint64_t mask, enum unwind_arch machine, struct unwind_input *input)
{
	input->arch = user_registers_arch_of(sample, machine);
	if (!sample->regs_user || input->arch >= UNWIND_ARCHES)
		return false;
	const struct numbering *numbering = &numberings[input->arch];
	unsigned ip = registers_of(numbering->isa)->ip;
	struct unwind_registers *registers = &input->registers;
	const uint8_t *at = sample->regs_user;
	bool has_ip = false;
	*registers = (struct unwind_registers){ 0 };
	for (unsigned bit = 0; bit < REGISTERS_MAX; bit++) {
		if (!(mask >> bit & 1))
			continue;
		uint64_t value = load_u64(at);
		at += 8;
		if (bit == ip) {
			registers->pc = value;
			has_ip = true;
		} else if (bit < numbering->count && numbering->numbers[bit] != NO_NUMBER) {
			registers->values[numbering->numbers[bit]] = value;
			registers->known |= (uint64_t)1 << numbering->numbers[bit];
		}
	}
	input->stack_address = registers->values[numbering->stack_pointer];
	return has_ip && registers->known >> numbering->stack_pointer & 1;
}
