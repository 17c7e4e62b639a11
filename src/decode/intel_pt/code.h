/* The code of one module, cut into blocks: instructions that run one after the other, up to the first that may branch. A block is decoded
 * once; the blocks that may follow it in the same module are linked, so that a step of the decoder is one look-up. Not thread-safe: each
 * thread has a separate struct pt_code. Knows no files. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "arch/x86/instruction.h"

#define PT_NO_BLOCK 0xffffffffu

struct pt_block_code {
	uint64_t offset;         /* of its first instruction in the module */
	uint32_t size;           /* bytes, with the last instruction */
	uint16_t instructions;   /* with the last one */
	uint8_t kind;            /* of the last instruction; INSTRUCTION_OTHER: the next block continues it */
	uint8_t last_size;       /* bytes of the last instruction */
	int32_t displacement;    /* of a direct branch, from the end of the block */
	uint32_t taken, next;    /* blocks at the branch's target and behind the block; PT_NO_BLOCK: not looked up yet */
	bool broken;             /* the code ends, or is no code, at offset + size; kind is OTHER, last_size 0 */
};

enum { PT_CODE_RECENT = 256, PT_CODE_KNOWN = 4096 };

/* An instruction that was decoded. */
struct pt_known_instruction {
	uint64_t key;            /* offset * 4 + mode / 32, + 1; 0: none */
	struct instruction instruction;
};

struct pt_code {
	const uint8_t *bytes;    /* borrowed; NULL: no code is available */
	uint64_t size;           /* of bytes; offsets are below it */
	VEC(struct pt_block_code) blocks;
	struct idmap by_offset;  /* offset * 4 + mode / 32 → block */
	struct pt_recent_block {
		uint64_t key;        /* as in by_offset, + 1; 0: none */
		uint32_t index;
	} recent[PT_CODE_RECENT]; /* by the lower bits of the offset: what was looked up last */
	struct pt_known_instruction *known; /* PT_CODE_KNOWN of them, by the lower bits of the offset; NULL: none was asked for */
	uint32_t generation;     /* changes when all blocks were dropped: indices are void */
	uint32_t blocks_max;     /* all are dropped before there are more; 0: a default */
	size_t *blocks_total;    /* counts the blocks of several codes; NULL: not counted */
};

void pt_code_fini(struct pt_code *code); /* accepts a zeroed one */
void pt_code_drop(struct pt_code *code); /* drops all blocks */
/* The block at an offset; mode: 16, 32, 64. An offset outside of the code yields a broken block without instructions. A call may
 * move all blocks, or drop them and begin anew: indices stay valid while code->generation is the same. */
uint32_t pt_code_block(struct pt_code *code, uint64_t offset, unsigned mode);
/* The instruction at an offset; false: none. */
bool pt_code_instruction(const struct pt_code *code, uint64_t offset, unsigned mode, struct instruction *instruction);
/* The same, faster where the instruction was asked for before. */
bool pt_code_known(struct pt_code *code, uint64_t offset, unsigned mode, struct instruction *instruction);
