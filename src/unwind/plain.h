/* A second, simple interpreter of call frame information for tests: executes the instructions up to one address and applies the result
 * register by register. Shares with the compiled tables only the search of entries and the decoding of pointers. */
#pragma once
#include "unwind/collect.h"
#include "unwind/expression.h"
#include "base/leb128.h"
#include "unwind/machine.h"

#define PLAIN_DEPTH 64

struct plain_rule {
	bool above;                  /* it was saved above the stack pointer at some instruction */
	int how;                     /* 0 same, 1 undefined, 2 at the CFA, 3 is the CFA, 4 register, 5 at expression, 6 is expression */
	int64_t value;
	struct span code;
};

struct plain_row {
	struct plain_rule rules[64];
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct span cfa_code;        /* if cfa_how is 2 */
	int cfa_how;                 /* 0 not set, 1 register, 2 expression */
	bool is_signed;
};

struct plain {
	const struct machine *machine;
	const struct cie *cie;
	struct plain_row row, initial, stack[PLAIN_DEPTH];
	unsigned depth;
	uint64_t location, target;
	bool bad, passed;
};

static inline void plain_block(struct plain *p, struct cursor *c, struct span *out)
{
	uint64_t len = take_uleb(c);
	*out = (struct span){ 0 };
	if (c->short_read || len > cursor_left(c) || len > EXPRESSION_LENGTH)
		p->bad = true;
	else
		*out = (struct span){ take(c, (size_t)len), (size_t)len };
}

static inline void plain_set(struct plain *p, uint64_t reg, int how, int64_t value, struct span code)
{
	if (reg >= p->machine->registers)
		return;
	if (how != 4 && value != (int32_t)value)
		p->bad = true;
	p->row.rules[reg] = (struct plain_rule){ false, how, value, code };
}

static inline bool plain_below(const struct plain *p, const struct plain_rule *rule)
{
	return p->row.cfa_how == 1 && p->row.cfa_register == p->machine->sp && p->row.cfa_offset + rule->value < 0;
}

/* Marks that at least one instruction has these rules. */
static inline void plain_settle(struct plain *p)
{
	for (unsigned i = 0; i < p->machine->registers && p->row.cfa_how; i++)
		p->row.rules[i].above |= p->row.rules[i].how == 2 && !plain_below(p, &p->row.rules[i]);
}

static inline void plain_move(struct plain *p, uint64_t to, bool sane)
{
	if (!sane || to < p->location)
		p->bad = true;
	else if (to > p->target)
		p->passed = true;
	else if (to > p->location)
		plain_settle(p);
	if (!p->bad && !p->passed)
		p->location = to;
}

static inline void plain_advance(struct plain *p, uint64_t delta)
{
	uint64_t bytes, to;
	bool sane = !__builtin_mul_overflow(delta, p->cie->code_align, &bytes) && !__builtin_add_overflow(p->location, bytes, &to);
	plain_move(p, sane ? to : 0, sane);
}

static inline int64_t plain_factor(const struct plain *p, uint64_t value)
{
	return (int64_t)(value * (uint64_t)p->cie->data_align);
}

static inline void plain_cfa(struct plain *p, uint64_t reg, int64_t offset)
{
	p->bad |= reg > 255 || offset != (int32_t)offset;
	p->row.cfa_how = 1;
	p->row.cfa_register = reg;
	p->row.cfa_offset = offset;
}

static inline bool plain_cfa_op(struct plain *p, struct cursor *c, uint8_t op)
{
	bool plain = p->row.cfa_how == 1;
	struct expression_shape shape;
	uint64_t reg;
	switch (op) {
	case 0x0c: reg = take_uleb(c); plain_cfa(p, reg, (int64_t)take_uleb(c)); return true;
	case 0x12: reg = take_uleb(c); plain_cfa(p, reg, plain_factor(p, (uint64_t)take_sleb(c))); return true;
	case 0x0d: p->bad |= !plain; plain_cfa(p, take_uleb(c), p->row.cfa_offset); return true;
	case 0x0e: p->bad |= !plain; plain_cfa(p, p->row.cfa_register, (int64_t)take_uleb(c)); return true;
	case 0x13: p->bad |= !plain; plain_cfa(p, p->row.cfa_register, plain_factor(p, (uint64_t)take_sleb(c))); return true;
	case 0x0f:
		plain_block(p, c, &p->row.cfa_code);
		p->row.cfa_how = 2;
		/* an expression that only adds is equivalent to a register and an offset */
		shape = expression_recognise(p->row.cfa_code, p->machine->word, p->machine->ra_is_register ? 255 : p->machine->ra);
		if (shape.form == EXPRESSION_SUM)
			plain_cfa(p, shape.reg, shape.offset);
		return true;
	default: return false;
	}
}

static inline bool plain_register_op(struct plain *p, struct cursor *c, uint8_t op)
{
	static const struct span none = { 0 };
	struct span code;
	uint64_t other, reg = 0;
	if ((op >= 0x05 && op <= 0x09) || op == 0x10 || op == 0x11 || (op >= 0x14 && op <= 0x16) || op == 0x2f)
		reg = take_uleb(c);
	switch (op) {
	case 0x05: plain_set(p, reg, 2, plain_factor(p, take_uleb(c)), none); return true;
	case 0x11: plain_set(p, reg, 2, plain_factor(p, (uint64_t)take_sleb(c)), none); return true;
	case 0x2f: plain_set(p, reg, 2, (int64_t)-(uint64_t)plain_factor(p, take_uleb(c)), none); return true;
	case 0x14: plain_set(p, reg, 3, plain_factor(p, take_uleb(c)), none); return true;
	case 0x15: plain_set(p, reg, 3, plain_factor(p, (uint64_t)take_sleb(c)), none); return true;
	case 0x06: if (reg < p->machine->registers) p->row.rules[reg] = p->initial.rules[reg]; return true;
	case 0x07: plain_set(p, reg, 1, 0, none); return true;
	case 0x08: plain_set(p, reg, 0, 0, none); return true;
	case 0x09: other = take_uleb(c); plain_set(p, reg, other < p->machine->registers ? 4 : 1, (int64_t)other & 63, none); return true;
	case 0x10: plain_block(p, c, &code); plain_set(p, reg, 5, 0, code); return true;
	case 0x16: plain_block(p, c, &code); plain_set(p, reg, 6, 0, code); return true;
	default: return false;
	}
}

static inline void plain_op(struct plain *p, const struct cfi_section *section, struct cursor *c, uint64_t function, uint64_t place)
{
	uint8_t op = take_u8(c);
	uint64_t to;
	struct cfi_section at = *section;
	switch (op & 0xc0) {
	case 0x40: plain_advance(p, op & 0x3f); return;
	case 0x80: plain_set(p, op & 0x3f, 2, plain_factor(p, take_uleb(c)), (struct span){ 0 }); return;
	case 0xc0: if ((op & 0x3f) < p->machine->registers) p->row.rules[op & 0x3f] = p->initial.rules[op & 0x3f]; return;
	}
	if (plain_cfa_op(p, c, op) || plain_register_op(p, c, op))
		return;
	switch (op) {
	case 0x00: return;
	case 0x01:
		at.address = place;
		bool sane = take_pointer(c, &at, p->cie->encoding, p->cie->address_size, function, &to);
		plain_move(p, sane ? to : 0, sane);
		return;
	case 0x02: plain_advance(p, take_u8(c)); return;
	case 0x03: plain_advance(p, take_u16(c)); return;
	case 0x04: plain_advance(p, take_u32(c)); return;
	case 0x1d: plain_advance(p, take_u64(c)); return;
	case 0x0a: if (p->depth < PLAIN_DEPTH) p->stack[p->depth++] = p->row; else p->bad = true; return;
	case 0x0b: if (p->depth) p->row = p->stack[--p->depth]; else p->bad = true; return;
	case 0x2c: case 0x2d: p->row.is_signed ^= p->machine->ra_is_register; return;
	case 0x2e: take_uleb(c); return;
	default: p->bad = true;
	}
}

static inline bool plain_run(struct plain *p, const struct cfi_section *section, struct span code, uint64_t at, uint64_t function)
{
	struct cursor c = cursor_of(code.data, code.len, false);
	while (c.at < c.len && !p->bad && !c.short_read && !p->passed)
		plain_op(p, section, &c, function, section->address + at);
	return !p->bad && (!c.short_read || p->passed);
}

/* Finds the row of address; false: none. */
static inline bool plain_find(struct plain *p, const struct collection *c, const struct machine *machine, uint64_t address)
{
	for (size_t i = 0; i < c->pieces.count; i++) {
		const struct piece *piece = &c->pieces.items[i];
		const struct cfi_section *section = &c->sections[piece->section];
		if (address < piece->start || address >= piece->end)
			continue;
		memset(p, 0, sizeof *p);
		p->machine = machine;
		p->cie = &c->cies.items[piece->cie].cie;
		/* initial instructions have no addresses: an advance ends them */
		p->target = 0;
		if (!plain_run(p, section, p->cie->program, p->cie->program_at, 0))
			return false;
		p->initial = p->row;
		p->depth = 0;
		p->passed = false;
		p->location = piece->function;
		p->target = address;
		struct span code = { section->bytes.data + piece->program, piece->program_len };
		bool good = plain_run(p, section, code, piece->program, piece->function);
		plain_settle(p);
		return good && p->row.cfa_how && p->cie->ra == machine->ra;
	}
	return false;
}

struct plain_frame {
	uint64_t registers[64], known, pc;
};

static inline bool plain_value(const struct plain *p, const struct expression_input *input, uint64_t reg, uint64_t *value)
{
	const struct plain_rule *rule = &p->row.rules[reg];
	uint64_t address;
	uint8_t word = p->machine->word;
	switch (rule->how) {
	case 0: *value = input->registers[reg]; return input->known >> reg & 1;
	case 2:
		if (plain_below(p, rule) && rule->above) {
			*value = input->registers[reg];
			return input->known >> reg & 1;
		}
		address = *input->cfa + (uint64_t)rule->value; break;
	case 3: *value = *input->cfa + (uint64_t)rule->value; return true;
	case 4: *value = input->registers[rule->value]; return input->known >> rule->value & 1;
	case 5:
		if (!expression_run(rule->code, input, &address))
			return false;
		break;
	case 6: return expression_run(rule->code, input, value);
	default: return false;
	}
	return stack_read(input->memory, word == 4 ? (uint32_t)address : address, word, value);
}

/* Steps from a frame to its caller; false: the chain ends. *cfa is set if it was computed. */
static inline bool plain_step(const struct plain *p, struct plain_frame *frame, struct stack_memory *memory, uint64_t bias, uint64_t *cfa)
{
	struct plain_frame up = { 0 };
	struct expression_input input = { .registers = frame->registers, .known = frame->known, .pc = frame->pc, .bias = bias,
		.pc_register = p->machine->ra_is_register ? 32 : p->machine->ra, .memory = memory };
	*cfa = 0;
	if (p->row.rules[p->cie->ra].how == 1)
		return false;
	if (p->row.cfa_how == 1) {
		if (p->row.cfa_register >= p->machine->registers || !(frame->known >> p->row.cfa_register & 1))
			return false;
		*cfa = frame->registers[p->row.cfa_register] + (uint64_t)p->row.cfa_offset;
	} else if (!expression_run(p->row.cfa_code, &input, cfa)) {
		return false;
	}
	input.cfa = cfa;
	uint64_t limit = p->machine->word == 4 ? UINT32_MAX : UINT64_MAX;
	for (unsigned reg = 0; reg < p->machine->registers; reg++)
		if (plain_value(p, &input, reg, &up.registers[reg])) {
			up.registers[reg] &= limit;
			up.known |= (uint64_t)1 << reg;
		}
	if (!p->row.rules[p->machine->sp].how) {
		up.registers[p->machine->sp] = *cfa & limit;
		up.known |= (uint64_t)1 << p->machine->sp;
	}
	if (!(up.known >> p->cie->ra & 1))
		return false;
	up.pc = up.registers[p->cie->ra];
	if (!p->machine->ra_is_register)
		up.known &= ~((uint64_t)1 << p->cie->ra);
	*frame = up;
	return true;
}
