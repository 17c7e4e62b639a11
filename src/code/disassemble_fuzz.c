#include "code/disassemble.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte chooses the machine, the rest is its code: the instructions cover all of it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct code_machine machines[] = {
		{ 62, .is64 = true }, { 3 }, { 183, .is64 = true }, { 40 }, { 40, .thumb = true }, { 21, .is64 = true },
		{ 21, .is64 = true, .big_endian = true }, { 22, .is64 = true, .big_endian = true },
	};
	struct disassembler *disassembler;
	if (!size || disassembler_open(&disassembler, &machines[data[0] & 7], data[0] & 8 ? CODE_INTEL : CODE_ATT, NULL) < 0)
		return 0;
	struct span code = { data + 1, size - 1 };
	uint64_t address = 0x1000;
	struct instruction instruction;
	while (disassembler_next(disassembler, &code, &address, &instruction))
		if (!instruction.length || address != instruction.address + instruction.length)
			abort();
	if (address != 0x1000 + size - 1)
		abort();
	disassembler_close(disassembler);
	return 0;
}
