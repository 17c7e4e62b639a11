#include "decode/intel_pt/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	BLOCK_INSTRUCTIONS_MAX = 1024,   /* longer ones are continued by the next block */
	BLOCKS_MAX = 1 << 23,            /* then all are dropped: hostile code begins at every byte */
};

void pt_code_fini(struct pt_code *code)
{
	if (code->blocks_total)
		*code->blocks_total -= code->blocks.count;
	vec_fini(&code->blocks);
	idmap_fini(&code->by_offset);
	free(code->known);
	code->known = NULL;
	memset(code->recent, 0, sizeof code->recent);
}

void pt_code_drop(struct pt_code *code)
{
	if (!code->blocks.count)
		return;
	pt_code_fini(code);
	code->generation++;
}

bool pt_code_instruction(const struct pt_code *code, uint64_t offset, unsigned mode, struct instruction *instruction)
{
	if (!code->bytes || offset >= code->size)
		return false;
	return instruction_decode(code->bytes + offset, code->size - offset, mode, instruction);
}

bool pt_code_known(struct pt_code *code, uint64_t offset, unsigned mode, struct instruction *instruction)
{
	if (!code->known)
		code->known = memory_zero(PT_CODE_KNOWN, sizeof *code->known);
	struct pt_known_instruction *known = &code->known[offset % PT_CODE_KNOWN];
	uint64_t key = offset * 4 + mode / 32 + 1;
	if (known->key != key) {
		if (!pt_code_instruction(code, offset, mode, instruction))
			return false;
		*known = (struct pt_known_instruction){ .key = key, .instruction = *instruction };
	}
	*instruction = known->instruction;
	return true;
}

static void block_decode(const struct pt_code *code, unsigned mode, struct pt_block_code *block)
{
	while (block->instructions < BLOCK_INSTRUCTIONS_MAX) {
		struct instruction instruction;
		if (!pt_code_instruction(code, block->offset + block->size, mode, &instruction)) {
			block->broken = true;
			block->last_size = 0;
			return;
		}
		block->size += instruction.size;
		block->last_size = instruction.size;
		block->instructions++;
		block->kind = instruction.kind;
		block->displacement = instruction.displacement;
		if (instruction.kind != INSTRUCTION_OTHER)
			return;
	}
}

uint32_t pt_code_block(struct pt_code *code, uint64_t offset, unsigned mode)
{
	bool added;
	uint64_t key = offset * 4 + mode / 32;
	struct pt_recent_block *recent = &code->recent[offset % PT_CODE_RECENT];
	if (recent->key == key + 1)
		return recent->index;
	if (code->blocks.count >= (code->blocks_max ? code->blocks_max : BLOCKS_MAX) && idmap_get(&code->by_offset, key) == IDMAP_NONE)
		pt_code_drop(code);
	uint32_t index = idmap_add(&code->by_offset, key, (uint32_t)code->blocks.count, &added);
	*recent = (struct pt_recent_block){ .key = key + 1, .index = index };
	if (!added)
		return index;
	struct pt_block_code *block = vec_add(&code->blocks);
	if (code->blocks_total)
		++*code->blocks_total;
	*block = (struct pt_block_code){ .offset = offset, .taken = PT_NO_BLOCK, .next = PT_NO_BLOCK };
	block_decode(code, mode, block);
	return index;
}
