#include "code/disassemble.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "code/capstone/tables.h"
#include "code/riscv.h"
#include "code/x86_vector.h"

struct disassembler {
	csh handle;
	cs_insn *scratch;
	struct code_machine machine;
	enum code_syntax syntax;
	unsigned unit;          /* bytes of the shortest instruction */
	char bad[80];           /* operands of CODE_BAD */
	struct x86_vector vector;
	struct riscv riscv;
};

struct capstone_row {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode32, mode64;
	unsigned unit;
};

static const struct capstone_row capstone_rows[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_32, CS_MODE_64, 1 },
	{ EM_386, CS_ARCH_X86, CS_MODE_32, CS_MODE_32, 1 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, CS_MODE_ARM, 4 },
	{ EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, CS_MODE_ARM, 4 },
	{ EM_PPC64, CS_ARCH_PPC, CS_MODE_32, CS_MODE_64, 4 },
	{ EM_PPC, CS_ARCH_PPC, CS_MODE_32, CS_MODE_32, 4 },
	{ EM_S390, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, CS_MODE_BIG_ENDIAN, 2 },
};

static const struct capstone_row *find_capstone(uint16_t machine)
{
	for (size_t i = 0; i < sizeof capstone_rows / sizeof *capstone_rows; i++)
		if (capstone_rows[i].machine == machine)
			return &capstone_rows[i];
	return NULL;
}

int disassembler_open(struct disassembler **disassembler, const struct code_machine *machine, enum code_syntax syntax, struct error *err)
{
	const struct capstone_row *row = find_capstone(machine->machine);
	if (riscv_is(machine)) {
		*disassembler = memory_zero(1, sizeof **disassembler);
		(*disassembler)->machine = *machine;
		return 0;
	}
	if (!row)
		return error_set(err, ERROR_UNSUPPORTED, "code of this machine (ELF machine %u) cannot be disassembled", machine->machine);
	capstone_tables_complete();
	struct disassembler *d = memory_zero(1, sizeof *d);
	d->machine = *machine;
	d->syntax = syntax;
	d->unit = machine->thumb ? 2 : row->unit;
	int mode = machine->thumb ? CS_MODE_THUMB : machine->is64 ? row->mode64 : row->mode32;
	if (machine->big_endian)
		mode |= CS_MODE_BIG_ENDIAN;
	cs_err status = cs_open(row->arch, (cs_mode)mode, &d->handle);
	if (status != CS_ERR_OK) {
		free(d);
		return error_set(err, ERROR_UNSUPPORTED, "code of this machine (ELF machine %u) cannot be disassembled: %s", machine->machine,
			cs_strerror(status));
	}
	if (row->arch == CS_ARCH_X86)
		cs_option(d->handle, CS_OPT_SYNTAX, syntax == CODE_INTEL ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
	d->scratch = cs_malloc(d->handle);
	if (!d->scratch)
		abort();
	*disassembler = d;
	return 0;
}

void disassembler_close(struct disassembler *d)
{
	if (!d)
		return;
	if (d->scratch) {
		cs_free(d->scratch, 1);
		cs_close(&d->handle);
	}
	free(d);
}

/* Instructions that capstone does not know. */
static bool take_vector(struct disassembler *d, struct span *code, uint64_t *address, struct instruction *instruction)
{
	if (d->machine.machine != EM_X86_64 || !x86_vector_decode(*code, d->syntax, &d->vector))
		return false;
	unsigned length = d->vector.length;
	*instruction = (struct instruction){ .address = *address, .bytes = code->data, .length = length, .mnemonic = d->vector.mnemonic,
		.operands = d->vector.operands };
	if (!d->vector.known) {
		size_t at = 0;
		for (unsigned i = 0; i < length && at < sizeof d->bad; i++)
			at += (size_t)snprintf(d->bad + at, sizeof d->bad - at, "%s0x%02x", i ? ", " : "", code->data[i]);
		instruction->kind = CODE_BAD;
		instruction->mnemonic = ".byte";
		instruction->operands = d->bad;
	}
	code->data += length;
	code->len -= length;
	*address += length;
	return true;
}

static void take_bad(struct disassembler *d, struct span *code, uint64_t *address, struct instruction *instruction)
{
	unsigned length = code->len < d->unit ? (unsigned)code->len : d->unit;
	uint64_t value = 0;
	for (unsigned i = 0; i < length; i++)
		value |= (uint64_t)code->data[i] << 8 * (d->machine.big_endian ? length - 1 - i : i);
	snprintf(d->bad, sizeof d->bad, "%#llx", (unsigned long long)value);
	*instruction = (struct instruction){ .address = *address, .bytes = code->data, .length = length, .kind = CODE_BAD,
		.mnemonic = length == 4 ? ".long" : length == 2 ? ".short" : ".byte", .operands = d->bad };
	code->data += length;
	code->len -= length;
	*address += length;
}

/* The number at the end of the operands of a direct jump: "0x1250", "x0, #0x1250", "#3, 0x40". Indirect ones end in a register or a
 * bracket, or begin with '*'. */
static bool read_target(const char *operands, uint64_t *target)
{
	const char *last = strrchr(operands, ' ');
	last = last ? last + 1 : operands;
	last += *last == '#';
	char *end;
	*target = strtoull(last, &end, 0);
	return end != last && *end == '\0' && *last != '-';
}

/* The displacement of "0x2e60(%rip)" or "[rip + 0x2e60]". */
static bool read_reference(const char *operands, uint64_t next, uint64_t *reference)
{
	const char *base = strstr(operands, "(%rip)");
	if (base) {
		const char *start = base;
		while (start > operands && (start[-1] == 'x' || start[-1] == '-' || (start[-1] >= '0' && start[-1] <= '9')
				|| (start[-1] >= 'a' && start[-1] <= 'f')))
			start--;
		*reference = next + (uint64_t)strtoll(start, NULL, 0);
		return true;
	}
	base = strstr(operands, "[rip");
	if (!base)
		return false;
	base += strlen("[rip");
	bool minus = strncmp(base, " - ", 3) == 0;
	uint64_t distance = strncmp(base, " + ", 3) == 0 || minus ? strtoull(base + 3, NULL, 0) : 0;
	*reference = minus ? next - distance : next + distance;
	return true;
}

bool disassembler_next(struct disassembler *d, struct span *code, uint64_t *address, struct instruction *instruction)
{
	if (!code->len)
		return false;
	if (!d->scratch)
		return riscv_next(&d->riscv, code, address, instruction);
	const uint8_t *bytes = code->data;
	uint64_t start = *address;
	if (!cs_disasm_iter(d->handle, &code->data, &code->len, address, d->scratch)) {
		if (!take_vector(d, code, address, instruction))
			take_bad(d, code, address, instruction);
		return true;
	}
	*instruction = (struct instruction){ .address = start, .bytes = bytes, .length = d->scratch->size, .mnemonic = d->scratch->mnemonic,
		.operands = d->scratch->op_str };
	instruction->kind = code_kind_of(&d->machine, instruction->mnemonic, instruction->operands, &instruction->conditional);
	if (instruction->kind == CODE_JUMP || instruction->kind == CODE_CALL)
		instruction->direct = read_target(instruction->operands, &instruction->target);
	if (d->machine.machine == EM_X86_64)
		instruction->refers = read_reference(instruction->operands, *address, &instruction->reference);
	return true;
}
