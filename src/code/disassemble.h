/* Machine code as instructions, one after the other: x86-64, i386, AArch64, ARM, ppc64 and s390x by capstone 4, RV64GC by riscv.h.
 * Knows no file, no symbol and no sample. Bytes that are no instruction of the machine become instructions of kind CODE_BAD, so that a
 * span is always covered. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

enum code_syntax {
	CODE_ATT,   /* x86: AT&T, operands as capstone spells them; other machines have one syntax */
	CODE_INTEL, /* x86: Intel */
};

enum code_kind {
	CODE_PLAIN,
	CODE_JUMP,
	CODE_CALL,
	CODE_RETURN,
	CODE_BAD,   /* not an instruction: mnemonic ".byte", operands "0x62" or ".long", "0xffffffff" */
};

/* The words of an ELF header that determine the instruction set. */
struct code_machine {
	uint16_t machine; /* EM_* */
	bool is64, big_endian;
	bool thumb;       /* EM_ARM: 16-bit encodings */
};

struct instruction {
	uint64_t address;
	const uint8_t *bytes;      /* in the span */
	unsigned length;
	const char *mnemonic;      /* with prefixes: "lock cmpxchgl"; valid until the next call, as are the operands */
	const char *operands;      /* "": no operands */
	enum code_kind kind;
	bool conditional;          /* JUMP: falls through, too */
	bool direct;               /* JUMP, CALL: the target is a constant */
	uint64_t target;
	bool refers;               /* x86-64, RISC-V: an operand in memory is relative to the instruction pointer … */
	uint64_t reference;        /* … and has this address */
};

struct disassembler;

/* < 0: ERROR_UNSUPPORTED, the machine is unknown to this build. */
int disassembler_open(struct disassembler **disassembler, const struct code_machine *machine, enum code_syntax syntax, struct error *err);
void disassembler_close(struct disassembler *disassembler); /* NULL is allowed */

/* Takes the first instruction of *code, which is at *address, and moves both behind it. False: *code is empty. */
bool disassembler_next(struct disassembler *disassembler, struct span *code, uint64_t *address, struct instruction *instruction);

/* The kind of an instruction of the machine, by its mnemonic; *conditional as in struct instruction. */
enum code_kind code_kind_of(const struct code_machine *machine, const char *mnemonic, const char *operands, bool *conditional);
