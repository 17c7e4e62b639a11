#include "unwind/expression.h"

#include "base/leb128.h"

enum {
	OP_ADDR = 0x03, OP_DEREF = 0x06, OP_CONST1U = 0x08, OP_CONST1S, OP_CONST2U, OP_CONST2S, OP_CONST4U, OP_CONST4S, OP_CONST8U,
	OP_CONST8S, OP_CONSTU, OP_CONSTS, OP_DUP, OP_DROP, OP_OVER, OP_PICK, OP_SWAP, OP_ROT, OP_ABS = 0x19, OP_AND, OP_DIV, OP_MINUS,
	OP_MOD, OP_MUL, OP_NEG, OP_NOT, OP_OR, OP_PLUS, OP_PLUS_UCONST, OP_SHL, OP_SHR, OP_SHRA, OP_XOR, OP_BRA, OP_EQ, OP_GE, OP_GT,
	OP_LE, OP_LT, OP_NE, OP_SKIP, OP_LIT0, OP_LIT31 = 0x4f, OP_BREG0 = 0x70, OP_BREG31 = 0x8f, OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94, OP_NOP = 0x96, OP_CALL_FRAME_CFA = 0x9c,
};

bool stack_read(struct stack_memory *memory, uint64_t address, unsigned size, uint64_t *value)
{
	uint64_t at = address - memory->address;
	if (address < memory->address)
		return false;
	if (at > memory->bytes.len || size > memory->bytes.len - at)
		return false;
	*value = 0;
	memcpy(value, memory->bytes.data + at, size);
	return true;
}

struct run {
	struct cursor code;
	const struct expression_input *input;
	uint64_t stack[EXPRESSION_STACK];
	unsigned depth;
	bool failed;
};

static void push(struct run *r, uint64_t value)
{
	if (r->depth == EXPRESSION_STACK)
		r->failed = true;
	else
		r->stack[r->depth++] = value;
}

static uint64_t pop(struct run *r)
{
	if (!r->depth) {
		r->failed = true;
		return 0;
	}
	return r->stack[--r->depth];
}

static uint64_t peek(struct run *r, unsigned back)
{
	if (back >= r->depth) {
		r->failed = true;
		return 0;
	}
	return r->stack[r->depth - 1 - back];
}

static void push_register(struct run *r, uint64_t reg)
{
	int64_t offset = take_sleb(&r->code);
	uint64_t value = 0;
	if (reg == r->input->pc_register)
		value = r->input->pc;
	else if (reg < 64 && r->input->known >> reg & 1)
		value = r->input->registers[reg];
	else
		r->failed = true;
	push(r, value + (uint64_t)offset);
}

static void load(struct run *r, unsigned size)
{
	uint64_t value = 0;
	if (!size || size > 8 || !stack_read(r->input->memory, pop(r), size, &value))
		r->failed = true;
	push(r, value);
}

static void jump(struct run *r, bool taken)
{
	int16_t distance = (int16_t)take_u16(&r->code);
	int64_t to = (int64_t)r->code.at + distance;
	if (!taken)
		return;
	if (to < 0 || (uint64_t)to > r->code.len)
		r->failed = true;
	else
		r->code.at = (size_t)to;
}

static uint64_t divide(struct run *r, uint8_t op, uint64_t a, uint64_t b)
{
	if (!b) {
		r->failed = true;
		return 0;
	}
	if (op == OP_MOD)
		return a % b;
	return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

/* Combines two values to one. */
static uint64_t combine(struct run *r, uint8_t op)
{
	uint64_t b = pop(r), a = pop(r);
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	switch (op) {
	case OP_AND: return a & b;
	case OP_OR: return a | b;
	case OP_XOR: return a ^ b;
	case OP_PLUS: return a + b;
	case OP_MINUS: return a - b;
	case OP_MUL: return a * b;
	case OP_SHL: return b < 64 ? a << b : 0;
	case OP_SHR: return b < 64 ? a >> b : 0;
	case OP_SHRA: return (uint64_t)(sa >> (b < 63 ? b : 63));
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_GE: return sa >= sb;
	case OP_GT: return sa > sb;
	case OP_LE: return sa <= sb;
	case OP_LT: return sa < sb;
	default: return divide(r, op, a, b);
	}
}

static bool run_constant(struct run *r, uint8_t op)
{
	struct cursor *c = &r->code;
	switch (op) {
	case OP_ADDR: push(r, (r->input->memory->word == 4 ? take_u32(c) : take_u64(c)) + r->input->bias); return true;
	case OP_CONST1U: push(r, take_u8(c)); return true;
	case OP_CONST1S: push(r, (uint64_t)(int8_t)take_u8(c)); return true;
	case OP_CONST2U: push(r, take_u16(c)); return true;
	case OP_CONST2S: push(r, (uint64_t)(int16_t)take_u16(c)); return true;
	case OP_CONST4U: push(r, take_u32(c)); return true;
	case OP_CONST4S: push(r, (uint64_t)(int32_t)take_u32(c)); return true;
	case OP_CONST8U: case OP_CONST8S: push(r, take_u64(c)); return true;
	case OP_CONSTU: push(r, take_uleb(c)); return true;
	case OP_CONSTS: push(r, (uint64_t)take_sleb(c)); return true;
	case OP_BREGX: push_register(r, take_uleb(c)); return true;
	}
	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(r, op - OP_LIT0);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		push_register(r, op - OP_BREG0);
	else
		return false;
	return true;
}

static void run_rotate(struct run *r, unsigned count)
{
	if (r->depth < count) {
		r->failed = true;
		return;
	}
	uint64_t *top = &r->stack[r->depth - count], last = top[count - 1];
	memmove(top + 1, top, (count - 1) * sizeof *top);
	top[0] = last;
}

static void run_other(struct run *r, uint8_t op)
{
	switch (op) {
	case OP_DEREF: load(r, r->input->memory->word); return;
	case OP_DEREF_SIZE: load(r, take_u8(&r->code)); return;
	case OP_DUP: push(r, peek(r, 0)); return;
	case OP_OVER: push(r, peek(r, 1)); return;
	case OP_PICK: push(r, peek(r, take_u8(&r->code))); return;
	case OP_DROP: pop(r); return;
	case OP_SWAP: run_rotate(r, 2); return;
	case OP_ROT: run_rotate(r, 3); return;
	case OP_NEG: push(r, -pop(r)); return;
	case OP_NOT: push(r, ~pop(r)); return;
	case OP_ABS: push(r, (int64_t)peek(r, 0) < 0 ? -pop(r) : pop(r)); return;
	case OP_PLUS_UCONST: push(r, pop(r) + take_uleb(&r->code)); return;
	case OP_SKIP: jump(r, true); return;
	case OP_BRA: jump(r, pop(r) != 0); return;
	case OP_NOP: return;
	case OP_CALL_FRAME_CFA:
		push(r, r->input->cfa ? *r->input->cfa : 0);
		r->failed |= !r->input->cfa;
		return;
	case OP_AND: case OP_DIV: case OP_MINUS: case OP_MOD: case OP_MUL: case OP_OR: case OP_PLUS: case OP_SHL: case OP_SHR:
	case OP_SHRA: case OP_XOR: case OP_EQ: case OP_GE: case OP_GT: case OP_LE: case OP_LT: case OP_NE:
		push(r, combine(r, op));
		return;
	default:
		r->failed = true;
	}
}

bool expression_run(struct span code, const struct expression_input *input, uint64_t *value)
{
	struct run r;
	r.code = cursor_of(code.data, code.len, false);
	r.input = input;
	r.depth = 0;
	r.failed = false;
	if (input->cfa)
		push(&r, *input->cfa);
	for (unsigned steps = 0; r.code.at < r.code.len; steps++) {
		uint8_t op = take_u8(&r.code);
		if (!run_constant(&r, op))
			run_other(&r, op);
		if (r.failed || r.code.short_read || steps == EXPRESSION_STEPS)
			return false;
	}
	*value = pop(&r);
	if (input->memory->word == 4)
		*value = (uint32_t)*value;
	return !r.failed;
}

/* Recognizes breg PC, lit15, and, litT, ge, lit(log2 word), shl, plus: the rule that linkers write for a PLT. */
static bool recognise_plt(struct cursor *c, unsigned word, unsigned pc_register, uint8_t *threshold)
{
	if (take_u8(c) != OP_BREG0 + pc_register || take_sleb(c) != 0 || take_u8(c) != OP_LIT0 + 15 || take_u8(c) != OP_AND)
		return false;
	*threshold = (uint8_t)(take_u8(c) - OP_LIT0);
	return *threshold <= 16 && take_u8(c) == OP_GE && take_u8(c) == OP_LIT0 + (word == 8 ? 3 : 2) && take_u8(c) == OP_SHL &&
		take_u8(c) == OP_PLUS && !c->short_read;
}

struct expression_shape expression_recognise(struct span code, unsigned word, unsigned pc_register)
{
	struct cursor c = cursor_of(code.data, code.len, false);
	struct expression_shape shape = { .form = EXPRESSION_OTHER };
	uint8_t op = take_u8(&c);
	uint64_t reg = op >= OP_BREG0 && op <= OP_BREG31 ? (uint64_t)(op - OP_BREG0) : op == OP_BREGX ? take_uleb(&c) : UINT64_MAX;
	int64_t offset = take_sleb(&c);
	if (c.short_read || reg >= UINT8_MAX || reg == pc_register || offset != (int32_t)offset)
		return shape;
	shape.reg = (uint8_t)reg;
	shape.offset = (int32_t)offset;
	struct cursor rest = c;
	if (c.at == c.len)
		shape.form = EXPRESSION_SUM;
	else if (c.data[c.at] == OP_DEREF && c.at + 1 == c.len)
		shape.form = EXPRESSION_LOAD;
	else if (recognise_plt(&rest, word, pc_register, &shape.threshold) && rest.at == rest.len)
		shape.form = EXPRESSION_PLT;
	return shape;
}
