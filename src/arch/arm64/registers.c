/* Arm, 64 bits; vg is the vector granule of SVE. */
#include "arch/registers.h"

extern const struct register_table registers_arm64;
const struct register_table registers_arm64 = {
	.names = {
		"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",
		"sp", "pc", [46] = "vg",
	},
	.ip = 32, .sp = 31,
	.dwarf = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		32 },
};
