/* Makes BPF programs instruction by instruction, with labels. Knows no program. Source: linux/bpf.h,
 * Documentation/bpf/standardization/instruction-set.rst. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* An instruction as the kernel takes it. */
struct bpf_instruction {
	uint8_t code;
	uint8_t registers; /* destination, and source in the upper half (in the lower one where the machine is big-endian) */
	int16_t offset;
	int32_t immediate;
};

struct bpf_instructions {
	VEC(struct bpf_instruction) list;
};

/* Parts of instruction codes. */
enum {
	BPF_LOAD_BYTE = 0x71, BPF_LOAD_WORD = 0x61, BPF_LOAD_LONG = 0x79,
	BPF_STORE_LONG_VALUE = 0x7a, BPF_MINUS_REGISTER = 0x1f, BPF_STORE_REGISTER = 0x7b, BPF_STORE_HALF = 0x63, BPF_STORE_ZERO = 0x62,
	BPF_LOAD_IMMEDIATE = 0x18, BPF_ATOMIC_ADD = 0xdb, BPF_CALL_HELPER = 0x85, BPF_END = 0x95, BPF_JUMP = 0x05,
	BPF_MOVE = 0xb7, BPF_MOVE_REGISTER = 0xbf, BPF_MOVE_LOW_HALF = 0xbc, BPF_PLUS = 0x07, BPF_PLUS_REGISTER = 0x0f,
	BPF_SHIFT_LEFT = 0x67, BPF_SHIFT_RIGHT = 0x77, BPF_JUMP_EQUAL = 0x15, BPF_JUMP_NOT_EQUAL = 0x55, BPF_JUMP_GREATER = 0x25,
	BPF_JUMP_LESS = 0xa5, BPF_BY_REGISTER = 0x08,
	BPF_MAP_DESCRIPTOR = 1, /* source register of BPF_LOAD_IMMEDIATE */
	BPF_CALL_KERNEL = 2,    /* source register of BPF_CALL_HELPER: a function of the kernel by its id */
};
enum { R0, R1, R2, R3, R6 = 6, R7, R8, R9, R10 };

/* A jump whose distance is not known yet. */
struct bpf_open_jump {
	uint32_t at, label;
};

struct assembler {
	struct bpf_instructions *out;
	VEC(uint32_t) places;            /* of each label */
	VEC(struct bpf_open_jump) jumps;
};

uint32_t assembler_label(struct assembler *a);
void assembler_place(struct assembler *a, uint32_t label);
void emit(struct assembler *a, unsigned code, unsigned to, unsigned from, int offset, int32_t immediate);
void emit_wide(struct assembler *a, unsigned to, unsigned kind, uint64_t value);
/* right: a register if the code has BPF_BY_REGISTER, otherwise a value. */
void emit_jump(struct assembler *a, unsigned code, unsigned left, int32_t right, uint32_t label);
void emit_helper(struct assembler *a, int helper);
/* Writes the distances of the jumps; all labels are placed. */
void assembler_fini(struct assembler *a);
