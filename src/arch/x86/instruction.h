/* Length and kind of x86 instructions: what following a trace needs, no operands. Source: Intel SDM vol. 2, chapter 2 and appendix A.
 * Follows Intel processors where they differ from others: in 64-bit mode near branches ignore the operand-size prefix. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum instruction_kind {
	INSTRUCTION_OTHER,         /* execution continues behind it */
	INSTRUCTION_CONDITIONAL,   /* jumps by `displacement`, or continues */
	INSTRUCTION_JUMP,          /* by `displacement` */
	INSTRUCTION_CALL,          /* by `displacement` */
	INSTRUCTION_JUMP_INDIRECT,
	INSTRUCTION_CALL_INDIRECT,
	INSTRUCTION_RETURN,
	INSTRUCTION_FAR_CALL,      /* a far branch needs a target from the trace, as the following kinds do */
	INSTRUCTION_FAR_JUMP,
	INSTRUCTION_FAR_RETURN,
	INSTRUCTION_INTERRUPT,     /* INT, INT1, INT3, INTO */
	INSTRUCTION_INTERRUPT_RETURN,
	INSTRUCTION_SYSCALL,       /* SYSCALL, SYSENTER */
	INSTRUCTION_SYSRET,        /* SYSRET, SYSEXIT */
	INSTRUCTION_VM_ENTRY,      /* VMLAUNCH, VMRESUME */
	INSTRUCTION_PTWRITE,       /* continues; the trace holds a value */
};

struct instruction {
	uint8_t kind;              /* enum instruction_kind */
	uint8_t size;              /* bytes, 1–15 */
	bool loops;                /* CONDITIONAL: LOOP, LOOPE, LOOPNE, JCXZ */
	int32_t displacement;      /* from the end of the instruction */
};

enum { INSTRUCTION_SIZE_MAX = 15 };

/* mode: 16, 32 or 64. False: len bytes hold no complete instruction, or no instruction of this mode begins there. */
bool instruction_decode(const uint8_t *bytes, size_t len, unsigned mode, struct instruction *instruction);
/* Whether an instruction of 64-bit mode that was decoded is a move to CR3, without a prefix but REX. */
bool instruction_sets_cr3(const uint8_t *bytes, size_t size);
/* Length of the first instruction; 0: as false above. */
unsigned x86_instruction_length(const uint8_t *bytes, size_t len, bool is_64bit);
