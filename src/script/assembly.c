#include "script/assembly.h"

#include <elf.h>

#include "code/disassemble.h"

static struct code_machine machine_of(enum isa isa, bool is_64bit)
{
	switch (isa) {
	case ISA_X86:
		return (struct code_machine){ .machine = is_64bit ? EM_X86_64 : EM_386, .is64 = is_64bit };
	case ISA_ARM64:
		return (struct code_machine){ .machine = EM_AARCH64, .is64 = true };
	case ISA_ARM:
		return (struct code_machine){ .machine = EM_ARM };
	case ISA_S390:
		return (struct code_machine){ .machine = EM_S390, .is64 = true, .big_endian = true };
	default:
		return (struct code_machine){ 0 };
	}
}

/* NULL: the processor has none. */
static struct disassembler *disassembler_of(const struct listing_line *line, bool is_64bit)
{
	struct disassembler **disassembler = &line->worker->disassemblers[is_64bit];
	struct code_machine machine = machine_of(line->listing->options.isa, is_64bit);

	if (!*disassembler && machine.machine)
		disassembler_open(disassembler, &machine, CODE_ATT, NULL);
	return *disassembler;
}

/* perf names the target of a direct branch if it is in a known function. */
static bool add_target(const struct listing_line *line, const struct instruction *instruction, unsigned mode, bool with_target,
	struct str *text)
{
	const struct location *target = resolved_locate(line->r, mode, instruction->target);
	uint64_t offset;
	const char *name = listing_symbol_at(line, target, &offset);

	if (!name)
		return false;
	str_printf(text, "%s %s+0x%llx", instruction->mnemonic, name, (unsigned long long)offset);
	if (with_target)
		str_printf(text, " [%#llx]", (unsigned long long)instruction->target);
	return true;
}

unsigned listing_assembly(const struct listing_line *line, struct span code, uint64_t address, bool is_64bit, unsigned mode,
	bool with_target, struct str *text)
{
	struct disassembler *disassembler = disassembler_of(line, is_64bit);
	struct instruction instruction;

	if (!disassembler || !disassembler_next(disassembler, &code, &address, &instruction) || instruction.kind == CODE_BAD)
		return 0;
	bool named = line->listing->options.isa == ISA_X86 && instruction.direct && add_target(line, &instruction, mode, with_target, text);
	if (!named)
		str_printf(text, "%s %s", instruction.mnemonic, instruction.operands);
	return instruction.length;
}
