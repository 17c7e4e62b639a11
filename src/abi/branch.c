#include "abi/branch.h"

#include "abi/bit_fields.h"

enum { TYPE_AT = 20, NEW_TYPE_AT = 26, TYPE_EXTENDED = 15 };

uint64_t branch_flags_mirrored(uint64_t flags, bool to_big)
{
	/* mispred, predicted, in_tx, abort, cycles, type, spec, new_type, priv, reserved */
	static const uint8_t widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3, 31 };
	return bit_fields_mirrored(flags, widths, sizeof widths, to_big);
}

const char *branch_type_name(uint64_t flags)
{
	static const char *const names[] = {
		"", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",
		"SERROR", "NO_TX",
	};
	static const char *const extended[16] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
	};
	unsigned type = flags >> TYPE_AT & 15;
	const char *name = type == TYPE_EXTENDED ? extended[flags >> NEW_TYPE_AT & 15] : names[type];

	return name ? name : "(null)";
}

const char *branch_speculation_name(uint64_t flags)
{
	static const char *const names[] = { "", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH" };

	return names[branch_speculation(flags)];
}
