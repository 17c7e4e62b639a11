#include "arch/registers.h"

#include <stddef.h>

extern const struct register_table registers_x86, registers_arm, registers_arm64, registers_powerpc, registers_s390,
	registers_riscv, registers_csky, registers_loongarch, registers_mips;

const struct register_table *registers_of(enum isa isa)
{
	static const struct register_table *const tables[ISA_COUNT] = {
		[ISA_X86] = &registers_x86, [ISA_ARM] = &registers_arm, [ISA_ARM64] = &registers_arm64,
		[ISA_POWERPC] = &registers_powerpc, [ISA_S390] = &registers_s390, [ISA_RISCV] = &registers_riscv,
		[ISA_CSKY] = &registers_csky, [ISA_LOONGARCH] = &registers_loongarch, [ISA_MIPS] = &registers_mips,
	};
	return isa < ISA_COUNT ? tables[isa] : NULL;
}

const char *register_name(enum isa isa, unsigned bit)
{
	const struct register_table *table = registers_of(isa);

	return table && bit < REGISTERS_MAX && table->names[bit] ? table->names[bit] : "unknown";
}
