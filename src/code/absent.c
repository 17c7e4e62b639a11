/* For builds without capstone's archive (foreign processors): every machine but RISC-V is unknown. */
#include <stdlib.h>

#include "base/memory.h"
#include "code/disassemble.h"
#include "code/riscv.h"

struct disassembler {
	struct riscv riscv;
};

int disassembler_open(struct disassembler **disassembler, const struct code_machine *machine, enum code_syntax syntax, struct error *err)
{
	if (riscv_is(machine)) {
		*disassembler = memory_zero(1, sizeof **disassembler);
		return 0;
	}
	error_set(err, ERROR_UNSUPPORTED, "disassembly is not in this build");
	return error_hint(err, "build with the package libcapstone-dev of this processor");
}

void disassembler_close(struct disassembler *disassembler)
{
	free(disassembler);
}

bool disassembler_next(struct disassembler *disassembler, struct span *code, uint64_t *address, struct instruction *instruction)
{
	return riscv_next(&disassembler->riscv, code, address, instruction);
}
