/* For builds without capstone's archive (foreign processors): every machine is unknown. */
#include "code/disassemble.h"

int disassembler_open(struct disassembler **disassembler, const struct code_machine *machine, enum code_syntax syntax, struct error *err)
{
	error_set(err, ERROR_UNSUPPORTED, "disassembly is not in this build");
	return error_hint(err, "build with the package libcapstone-dev of this processor");
}

void disassembler_close(struct disassembler *disassembler)
{
}

bool disassembler_next(struct disassembler *disassembler, struct span *code, uint64_t *address, struct instruction *instruction)
{
	return false;
}
