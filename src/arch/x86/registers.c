/* x86, 32 and 64 bits. An XMM register takes two bits, one per half. */
#include "arch/registers.h"

extern const struct register_table registers_x86;
const struct register_table registers_x86 = {
	.names = {
		"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS", "GS",
		"R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", [32] = "XMM0", "XMM0", "XMM1", "XMM1", "XMM2",
		"XMM2", "XMM3", "XMM3", "XMM4", "XMM4", "XMM5", "XMM5", "XMM6", "XMM6", "XMM7", "XMM7", "XMM8", "XMM8",
		"XMM9", "XMM9", "XMM10", "XMM10", "XMM11", "XMM11", "XMM12", "XMM12", "XMM13", "XMM13", "XMM14",
		"XMM14", "XMM15", "XMM15",
	},
	.ip = 8, .sp = 7,
	.dwarf = { 1, 4, 3, 2, 5, 6, 7, 8, [16] = 9, 10, 11, 12, 13, 14, 15, 16 },
	.dwarf32 = { 1, 4, 2, 3, 7, 8, 6, 5 },
};
