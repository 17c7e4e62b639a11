#include "unwind/program.h"

#include "base/hash.h"
#include "unwind/expression.h"
#include "base/leb128.h"

enum { /* DW_CFA_* */
	CFA_NOP = 0x00, CFA_SET_LOC, CFA_ADVANCE1, CFA_ADVANCE2, CFA_ADVANCE4, CFA_OFFSET_EXTENDED, CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED, CFA_SAME_VALUE, CFA_IN_REGISTER, CFA_REMEMBER_STATE, CFA_RESTORE_STATE, CFA_DEF_CFA, CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET, CFA_DEF_CFA_EXPRESSION, CFA_AT_EXPRESSION, CFA_OFFSET_EXTENDED_SF, CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF, CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF, CFA_VAL_EXPRESSION, CFA_MIPS_ADVANCE8 = 0x1d,
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c, CFA_NEGATE_RA_STATE = 0x2d, CFA_GNU_ARGS_SIZE = 0x2e, CFA_GNU_NEGATIVE_OFFSET = 0x2f,
	CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0,
};

/* One execution of a program. */
struct run {
	struct program *p;
	const struct cie *cie;
	struct cursor code;
	uint64_t place;          /* address as linked of the code's first byte */
	uint64_t location, from, to;
	uint64_t function;
	bool rows, failed;
	bool short_form;         /* operands in the instruction's own byte cannot overflow */
};

static int32_t narrow(struct run *r, int64_t value)
{
	if (value != (int32_t)value)
		r->failed = true;
	return (int32_t)value;
}

static int64_t scaled(const struct run *r, uint64_t factored)
{
	return (int64_t)(factored * (uint64_t)r->cie->data_align);
}

/* Copies without the columns that this architecture lacks; with constant sizes, as it runs three times per entry. */
static inline void state_copy(const struct program *p, struct frame_state *to, const struct frame_state *from)
{
	enum { FEW = 17, HALF = (offsetof(struct frame_state, columns) + FEW * sizeof(struct column)) / 2 };
	if (p->machine->registers > FEW) {
		*to = *from;
		return;
	}
	/* small enough to be compiled to moves */
	memcpy(to, from, HALF);
	memcpy((char *)to + HALF, (const char *)from + HALF, HALF);
}

static uint64_t column_hash(uint64_t reg, const struct column *c)
{
	return c->kind == SAVED_SAME ? 0 : hash_u64(reg << 56 | (uint64_t)c->kind << 48 | (uint64_t)c->base << 40 | (uint32_t)c->value);
}

/* Ignores registers that are not tracked (vectors). */
static void set_column(struct run *r, uint64_t reg, uint8_t kind, uint8_t base, int32_t value)
{
	struct frame_state *s = &r->p->state;
	if (reg >= PROGRAM_REGISTERS || reg >= r->p->machine->registers)
		return;
	s->hash ^= column_hash(reg, &s->columns[reg]);
	s->columns[reg] = (struct column){ .kind = kind, .base = base, .value = value };
	s->hash ^= column_hash(reg, &s->columns[reg]);
	s->pushed &= ~((uint64_t)1 << reg);
	if (kind == SAVED_SAME)
		s->set &= ~((uint64_t)1 << reg);
	else
		s->set |= (uint64_t)1 << reg;
}

/* Saves at an offset near the CFA, the most frequent case. */
static inline void set_saved(struct run *r, uint8_t reg, uint64_t factored)
{
	struct frame_state *s = &r->p->state;
	struct column now = { .kind = SAVED_AT_CFA, .value = (int32_t)(factored * (uint64_t)r->cie->data_align) };
	if (reg >= r->p->machine->registers)
		return;
	s->hash ^= column_hash(reg, &s->columns[reg]) ^ column_hash(reg, &now);
	s->columns[reg] = now;
	s->pushed &= ~((uint64_t)1 << reg);
	s->set |= (uint64_t)1 << reg;
}

static void set_offset(struct run *r, uint64_t reg, int64_t offset, uint8_t kind)
{
	if (reg < r->p->machine->registers)
		set_column(r, reg, kind, 0, narrow(r, offset));
}

static void restore_column(struct run *r, uint64_t reg)
{
	if (reg >= PROGRAM_REGISTERS)
		return;
	struct column c = r->p->initial.columns[reg];
	set_column(r, reg, c.kind, c.base, c.value);
}

static struct span take_block(struct run *r)
{
	uint64_t length = take_uleb(&r->code);
	if (r->code.short_read || length > cursor_left(&r->code)) {
		r->failed = true;
		return (struct span){ 0 };
	}
	return (struct span){ take(&r->code, (size_t)length), (size_t)length };
}

static int32_t keep_expression(struct run *r, struct span code)
{
	int32_t at = rule_builder_expression(r->p->builder, code);
	if (at < 0)
		r->failed = true;
	return at;
}

static struct expression_shape recognise(const struct run *r, struct span code)
{
	return expression_recognise(code, r->p->machine->word, r->p->machine->ra_is_register ? 255 : r->p->machine->ra);
}

static void set_expression(struct run *r, uint64_t reg, struct span code, uint8_t kind)
{
	struct expression_shape shape = recognise(r, code);
	if (reg >= r->p->machine->registers || r->failed)
		return;
	if (shape.form == EXPRESSION_SUM && kind == SAVED_AT_EXPRESSION)
		set_column(r, reg, SAVED_AT_REGISTER, shape.reg, shape.offset);
	else if (shape.form == EXPRESSION_LOAD && kind == SAVED_IS_EXPRESSION)
		set_column(r, reg, SAVED_AT_REGISTER, shape.reg, shape.offset);
	else
		set_column(r, reg, kind, 0, keep_expression(r, code));
}

static void set_cfa(struct run *r, uint8_t kind, uint64_t reg, int64_t value)
{
	struct frame_state *s = &r->p->state;
	if (reg > UINT8_MAX)
		r->failed = true;
	s->cfa_kind = kind;
	s->cfa_register = (uint8_t)reg;
	s->cfa_value = narrow(r, value);
	s->threshold = 0;
	s->cfa_set = true;
}

static void set_cfa_expression(struct run *r, struct span code)
{
	struct expression_shape shape = recognise(r, code);
	static const uint8_t kinds[] = { [EXPRESSION_SUM] = CFA_REGISTER, [EXPRESSION_LOAD] = CFA_LOAD, [EXPRESSION_PLT] = CFA_PLT };
	if (r->failed)
		return;
	if (shape.form == EXPRESSION_OTHER) {
		set_cfa(r, CFA_EXPRESSION, 0, keep_expression(r, code));
		return;
	}
	set_cfa(r, kinds[shape.form], shape.reg, shape.offset);
	r->p->state.threshold = shape.threshold;
}

/* Compilers omit that the last popped register is restored: between the pop and the return, its stored value is below the stack pointer,
 * where no copy of the stack begins. (A register that was never stored above it is in the red zone, and stays valid.) */
static void note_pushed(struct frame_state *s, const struct machine *m)
{
	bool by_sp = s->cfa_kind == CFA_REGISTER && s->cfa_register == m->sp;
	for (uint64_t set = s->set & ~s->pushed; set; set &= set - 1) {
		const struct column *c = &s->columns[__builtin_ctzll(set)];
		if (c->kind == SAVED_AT_CFA && (!by_sp || c->value >= -(int64_t)s->cfa_value))
			s->pushed |= set & -set;
	}
}

static bool is_popped(const struct frame_state *s, uint8_t reg, const struct machine *m)
{
	return s->pushed >> reg & 1 && s->columns[reg].kind == SAVED_AT_CFA && s->cfa_kind == CFA_REGISTER && s->cfa_register == m->sp &&
		s->columns[reg].value < -(int64_t)s->cfa_value;
}

static struct saved saved_of(const struct frame_state *s, uint8_t reg, const struct machine *m)
{
	struct column c = s->columns[reg];
	if (is_popped(s, reg, m))
		c = (struct column){ .kind = SAVED_SAME };
	return (struct saved){ .reg = reg, .kind = c.kind, .base = c.base, .value = c.value };
}

static bool is_simple(const struct rule *rule)
{
	return rule->cfa_kind == CFA_REGISTER && rule->ra.kind == SAVED_AT_CFA &&
		(rule->fp.kind == SAVED_SAME || rule->fp.kind == SAVED_AT_CFA) && !(rule->flags & (RULE_SIGNED | RULE_SIGNAL));
}

static uint32_t make_rule(struct run *r)
{
	const struct frame_state *s = &r->p->state;
	const struct machine *m = r->p->machine;
	struct saved others[PROGRAM_REGISTERS];
	uint32_t count = 0;
	struct rule rule = { .cfa_value = s->cfa_value, .cfa_kind = s->cfa_kind, .cfa_register = s->cfa_register,
		.threshold = s->threshold, .ra = saved_of(s, r->cie->ra, m), .fp = saved_of(s, m->fp, m) };
	for (uint64_t set = s->set & ~((uint64_t)1 << r->cie->ra | (uint64_t)1 << m->fp); set; set &= set - 1) {
		others[count] = saved_of(s, (uint8_t)__builtin_ctzll(set), m);
		count += others[count].kind != SAVED_SAME;
	}
	rule.flags = (rule.ra.kind == SAVED_UNDEFINED ? RULE_BOTTOM : 0) | (r->cie->signal ? RULE_SIGNAL : 0) |
		(s->is_signed ? RULE_SIGNED : 0);
	rule.flags |= is_simple(&rule) && !(s->set >> m->sp & 1) ? RULE_SIMPLE : 0;
	return rule_builder_rule(r->p->builder, &rule, others, count);
}

static inline uint32_t state_rule(struct run *r)
{
	struct frame_state *s = &r->p->state;
	if (!s->cfa_set || r->cie->ra != r->p->machine->ra) /* compilers choose no other column */
		return RULE_NONE;
	if (s->set & ~s->pushed)
		note_pushed(s, r->p->machine);
	uint64_t cfa = (uint64_t)s->cfa_kind << 60 | (uint64_t)r->cie->signal << 59 | (uint64_t)s->is_signed << 58 |
		(uint64_t)s->threshold << 48 | (uint64_t)s->cfa_register << 40 | (uint32_t)s->cfa_value;
	/* the columns' hash is well mixed: a sum suffices to distinguish states */
	uint64_t key = (cfa * 0xd6e8feb86659fd93u + s->hash + s->pushed * 0x9e3779b97f4a7c15u) | 1;
	struct known_rule *known = &r->p->known[key * 0x9e3779b97f4a7c15u >> 54];
	if (known->key != key)
		*known = (struct known_rule){ .key = key, .index = make_rule(r) };
	return known->index;
}

static inline void emit(struct run *r)
{
	if (!r->rows || !r->p->changed)
		return;
	uint64_t at = r->location > r->from ? r->location : r->from;
	rule_builder_add(r->p->builder, at, state_rule(r));
	r->p->changed = false;
}

static void move_to(struct run *r, uint64_t location)
{
	if (location < r->location) {
		r->failed = true;
		return;
	}
	if (location == r->location)
		return;
	if (location > r->from) /* otherwise another state follows before the first requested address */
		emit(r);
	r->location = location;
}

static void advance_location(struct run *r, uint64_t delta)
{
	uint64_t bytes;
	if (__builtin_mul_overflow(delta, r->cie->code_align, &bytes) || bytes > UINT64_MAX - r->location)
		r->failed = true;
	else
		move_to(r, r->location + bytes);
}

static void set_loc(struct run *r)
{
	struct cfi_section place = *r->p->section;
	uint64_t location;
	place.address = r->place;
	if (take_pointer(&r->code, &place, r->cie->encoding, r->cie->address_size, r->function, &location))
		move_to(r, location);
	else
		r->failed = true;
}

static void remember(struct run *r)
{
	if (r->p->depth == PROGRAM_REMEMBERED)
		r->failed = true;
	else
		state_copy(r->p, &r->p->remembered[r->p->depth++], &r->p->state);
}

static void restore(struct run *r)
{
	if (!r->p->depth)
		r->failed = true;
	else
		state_copy(r->p, &r->p->state, &r->p->remembered[--r->p->depth]);
}

static void step_cfa(struct run *r, uint8_t op)
{
	struct cursor *c = &r->code;
	struct frame_state *s = &r->p->state;
	uint64_t reg;
	switch (op) {
	case CFA_DEF_CFA: reg = take_uleb(c); set_cfa(r, CFA_REGISTER, reg, (int64_t)take_uleb(c)); return;
	case CFA_DEF_CFA_SF: reg = take_uleb(c); set_cfa(r, CFA_REGISTER, reg, scaled(r, (uint64_t)take_sleb(c))); return;
	case CFA_DEF_CFA_EXPRESSION: set_cfa_expression(r, take_block(r)); return;
	}
	r->failed |= !s->cfa_set || s->cfa_kind != CFA_REGISTER; /* other operations change required state */
	switch (op) {
	case CFA_DEF_CFA_REGISTER: set_cfa(r, CFA_REGISTER, take_uleb(c), s->cfa_value); return;
	case CFA_DEF_CFA_OFFSET: set_cfa(r, CFA_REGISTER, s->cfa_register, (int64_t)take_uleb(c)); return;
	case CFA_DEF_CFA_OFFSET_SF: set_cfa(r, CFA_REGISTER, s->cfa_register, scaled(r, (uint64_t)take_sleb(c))); return;
	}
}

static void step_register(struct run *r, uint8_t op)
{
	struct cursor *c = &r->code;
	uint64_t reg = take_uleb(c), other;
	switch (op) {
	case CFA_OFFSET_EXTENDED: set_offset(r, reg, scaled(r, take_uleb(c)), SAVED_AT_CFA); return;
	case CFA_OFFSET_EXTENDED_SF: set_offset(r, reg, scaled(r, (uint64_t)take_sleb(c)), SAVED_AT_CFA); return;
	case CFA_GNU_NEGATIVE_OFFSET: set_offset(r, reg, -scaled(r, take_uleb(c)), SAVED_AT_CFA); return;
	case CFA_VAL_OFFSET: set_offset(r, reg, scaled(r, take_uleb(c)), SAVED_IS_CFA); return;
	case CFA_VAL_OFFSET_SF: set_offset(r, reg, scaled(r, (uint64_t)take_sleb(c)), SAVED_IS_CFA); return;
	case CFA_RESTORE_EXTENDED: restore_column(r, reg); return;
	case CFA_UNDEFINED: set_column(r, reg, SAVED_UNDEFINED, 0, 0); return;
	case CFA_SAME_VALUE: set_column(r, reg, SAVED_SAME, 0, 0); return;
	case CFA_AT_EXPRESSION: set_expression(r, reg, take_block(r), SAVED_AT_EXPRESSION); return;
	case CFA_VAL_EXPRESSION: set_expression(r, reg, take_block(r), SAVED_IS_EXPRESSION); return;
	case CFA_IN_REGISTER:
		other = take_uleb(c);
		if (other < r->p->machine->registers)
			set_column(r, reg, SAVED_IN_REGISTER, (uint8_t)other, 0);
		else
			set_column(r, reg, SAVED_UNDEFINED, 0, 0); /* as an untracked register (a vector) */
		return;
	}
}

/* Executes an operation without operands in its own byte; false: it changes no rule. */
static bool step_plain(struct run *r, uint8_t op)
{
	struct cursor *c = &r->code;
	switch (op) {
	case CFA_NOP: return false;
	case CFA_SET_LOC: set_loc(r); return false;
	case CFA_ADVANCE1: advance_location(r, take_u8(c)); return false;
	case CFA_ADVANCE2: advance_location(r, take_u16(c)); return false;
	case CFA_ADVANCE4: advance_location(r, take_u32(c)); return false;
	case CFA_MIPS_ADVANCE8: advance_location(r, take_u64(c)); return false;
	case CFA_GNU_ARGS_SIZE: take_uleb(c); return false; /* relevant only to landing pads */
	case CFA_REMEMBER_STATE: remember(r); return false;
	case CFA_RESTORE_STATE: restore(r); return true;
	case CFA_NEGATE_RA_STATE: case CFA_NEGATE_RA_STATE_WITH_PC:
		if (r->p->machine->ra_is_register)
			r->p->state.is_signed = !r->p->state.is_signed;
		return true;
	case CFA_DEF_CFA: case CFA_DEF_CFA_SF: case CFA_DEF_CFA_EXPRESSION: case CFA_DEF_CFA_REGISTER: case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
		step_cfa(r, op);
		return true;
	case CFA_OFFSET_EXTENDED: case CFA_OFFSET_EXTENDED_SF: case CFA_GNU_NEGATIVE_OFFSET: case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF: case CFA_RESTORE_EXTENDED: case CFA_UNDEFINED: case CFA_SAME_VALUE: case CFA_AT_EXPRESSION:
	case CFA_VAL_EXPRESSION: case CFA_IN_REGISTER:
		step_register(r, op);
		return true;
	default:
		r->failed = true;
		return false;
	}
}

/* Pushes and pops are pairs of instructions, an advance and a new offset of the CFA, and the most frequent ones. Executes a sequence of
 * them in their short forms. Returns the offset after it, or `at` if there is none or it is unusual. */
static size_t run_pushes(struct run *r, size_t at)
{
	enum { PAIR = 3 };
	struct frame_state *s = &r->p->state;
	if (!r->short_form || !s->cfa_set || s->cfa_kind != CFA_REGISTER)
		return at;
	for (; r->code.len - at >= PAIR && r->location < r->to; at += PAIR) {
		const uint8_t *pair = r->code.data + at;
		uint64_t delta = (pair[0] & 0x3f) * r->cie->code_align;
		if ((pair[0] & 0xc0) != CFA_ADVANCE || pair[1] != CFA_DEF_CFA_OFFSET || pair[2] >= 0x80 || !delta)
			break;
		if (r->location + delta > r->from)
			emit(r);
		r->location += delta;
		s->cfa_value = pair[2];
		s->threshold = 0;
		r->p->changed = true;
	}
	return at;
}

/* Executes the instruction that begins with `byte`, which was read. */
static void run_any(struct run *r, uint8_t byte)
{
	uint8_t low = byte & 0x3f;
	switch (byte & 0xc0) {
	case CFA_ADVANCE: advance_location(r, low); break;
	case CFA_OFFSET: set_offset(r, low, scaled(r, take_uleb(&r->code)), SAVED_AT_CFA); r->p->changed = true; break;
	case CFA_RESTORE: restore_column(r, low); r->p->changed = true; break;
	default: r->p->changed |= step_plain(r, byte);
	}
}

/* Executes frequent short forms inline: the offset stays in a register. */
static bool run_program(struct run *r)
{
	const uint8_t *code = r->code.data;
	size_t at = r->code.at, len = r->code.len;
	while (at < len && !r->failed && r->location < r->to) {
		uint8_t byte = code[at], operand = at + 1 < len ? code[at + 1] : UINT8_MAX;
		size_t behind = (byte & 0xc0) == CFA_ADVANCE ? run_pushes(r, at) : at;
		if (behind != at) {
			at = behind;
		} else if ((byte & 0xc0) == CFA_OFFSET && operand < 0x80 && r->short_form) {
			set_saved(r, byte & 0x3f, operand);
			r->p->changed = true;
			at += 2;
		} else {
			r->code.at = at + 1;
			run_any(r, byte);
			at = r->code.at;
		}
	}
	r->code.at = at;
	return !r->failed && !r->code.short_read;
}

bool program_cie(struct program *p, const struct cie *cie)
{
	memset(&p->state, 0, sizeof p->state);
	memset(&p->initial, 0, sizeof p->initial);
	p->depth = 0;
	struct run r = { .p = p, .cie = cie, .code = cursor_of(cie->program.data, cie->program.len, false),
		.place = p->section->address + cie->program_at, .to = 1 };
	bool good = run_program(&r);
	p->initial = p->state;
	return good;
}

bool program_fde(struct program *p, const struct cie *cie, const struct fde *fde, struct span code, uint64_t code_at, uint64_t from,
	uint64_t to)
{
	state_copy(p, &p->state, &p->initial);
	p->depth = 0;
	p->changed = true;
	struct run r = { .p = p, .cie = cie, .code = cursor_of(code.data, code.len, false), .place = p->section->address + code_at,
		.location = fde->start, .from = from, .to = to, .function = fde->start, .rows = true,
		.short_form = cie->code_align <= UINT16_MAX && cie->data_align == (int16_t)cie->data_align && to <= INT64_MAX };
	bool good = run_program(&r);
	if (!good)
		rule_builder_row(p->builder, r.location > from ? r.location : from, RULE_NONE);
	else if (r.location < to)
		emit(&r);
	return good;
}
