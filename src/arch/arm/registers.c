/* Arm, 32 bits. */
#include "arch/registers.h"

extern const struct register_table registers_arm;
const struct register_table registers_arm = {
	.names = {
		"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
	},
	.ip = 15, .sp = 13,
};
