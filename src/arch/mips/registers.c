/* MIPS; $26 and $27 belong to the kernel. */
#include "arch/registers.h"

extern const struct register_table registers_mips;
const struct register_table registers_mips = {
	.names = {
		"PC", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15",
		"$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", [28] = "$28", "$29", "$30",
		"$31",
	},
	.ip = 0, .sp = 29,
};
