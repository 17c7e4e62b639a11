#include "unwind/machine.h"

#include <elf.h>

const struct machine *machine_of(enum unwind_arch arch)
{
	static const struct machine machines[UNWIND_ARCHES] = {
		[UNWIND_X86_64] = { .registers = 17, .sp = 7, .fp = 6, .ra = 16, .word = 8 },
		[UNWIND_AARCH64] = { .registers = 33, .sp = 31, .fp = 29, .ra = 30, .word = 8, .ra_is_register = true },
		[UNWIND_X86] = { .registers = 9, .sp = 4, .fp = 5, .ra = 8, .word = 4 },
	};
	return &machines[arch];
}

bool machine_arch(uint16_t elf_machine, bool is64, enum unwind_arch *arch)
{
	switch (elf_machine) {
	case EM_X86_64:
		*arch = UNWIND_X86_64;
		return is64; /* x32 has words of 8 bytes and pointers of 4: not supported */
	case EM_AARCH64:
		*arch = UNWIND_AARCH64;
		return is64;
	case EM_386:
		*arch = UNWIND_X86;
		return !is64;
	default:
		return false;
	}
}
