#include "bpf/assemble.h"

uint32_t assembler_label(struct assembler *a)
{
	vec_push(&a->places, 0);
	return (uint32_t)a->places.count - 1;
}

void assembler_place(struct assembler *a, uint32_t label)
{
	a->places.items[label] = (uint32_t)a->out->list.count;
}

void emit(struct assembler *a, unsigned code, unsigned to, unsigned from, int offset, int32_t immediate)
{
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	const struct bpf_instruction one = { (uint8_t)code, (uint8_t)(little ? from << 4 | to : to << 4 | from), (int16_t)offset, immediate };
	vec_push(&a->out->list, one);
}

void emit_wide(struct assembler *a, unsigned to, unsigned kind, uint64_t value)
{
	emit(a, BPF_LOAD_IMMEDIATE, to, kind, 0, (int32_t)(uint32_t)value);
	emit(a, 0, 0, 0, 0, (int32_t)(uint32_t)(value >> 32));
}

void emit_jump(struct assembler *a, unsigned code, unsigned left, int32_t right, uint32_t label)
{
	bool by_register = code & BPF_BY_REGISTER;
	vec_push(&a->jumps, ((struct bpf_open_jump){ (uint32_t)a->out->list.count, label }));
	emit(a, code, left, by_register ? (unsigned)right : 0, 0, by_register ? 0 : right);
}

void emit_helper(struct assembler *a, int helper)
{
	emit(a, BPF_CALL_HELPER, 0, 0, 0, helper);
}

void assembler_fini(struct assembler *a)
{
	for (size_t i = 0; i < a->jumps.count; i++) {
		uint32_t at = a->jumps.items[i].at;
		a->out->list.items[at].offset = (int16_t)(a->places.items[a->jumps.items[i].label] - at - 1);
	}
	vec_fini(&a->jumps);
	vec_fini(&a->places);
}
