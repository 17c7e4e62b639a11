#include "unwind/sframe.h"

enum {
	MAGIC = 0xdee2, FLAG_PC_RELATIVE = 4,
	ABI_AARCH64 = 2, ABI_AMD64 = 3,
	FUNCTION_SIZE_1 = 17, FUNCTION_SIZE_2 = 20,
	REPEATED_ROWS_MAX = 1 << 20, /* limit for all functions of a file */
};

int sframe_open(struct sframe *s, struct span bytes, uint64_t address)
{
	struct cursor c = cursor_of(bytes.data, bytes.len, false);
	*s = (struct sframe){ .bytes = bytes, .address = address };
	uint16_t magic = take_u16(&c);
	s->version = take_u8(&c);
	s->flags = take_u8(&c);
	uint8_t abi = take_u8(&c);
	s->fixed_fp = (int8_t)take_u8(&c);
	s->fixed_ra = (int8_t)take_u8(&c);
	uint8_t more = take_u8(&c);
	s->count = take_u32(&c);
	take_u32(&c); /* number of rows of all functions */
	uint64_t rows_len = take_u32(&c), functions_at = take_u32(&c), rows_at = take_u32(&c);
	take(&c, more);
	if (c.short_read || magic != MAGIC || (s->version != 1 && s->version != 2) || (abi != ABI_AARCH64 && abi != ABI_AMD64))
		return -1;
	s->arch = abi == ABI_AMD64 ? UNWIND_X86_64 : UNWIND_AARCH64;
	uint64_t left = cursor_left(&c), size = s->version == 1 ? FUNCTION_SIZE_1 : FUNCTION_SIZE_2;
	if (functions_at > left || s->count > (left - functions_at) / size || rows_at > left || rows_len > left - rows_at)
		return -1;
	s->functions = (struct span){ c.data + c.at + functions_at, (size_t)(s->count * size) };
	s->rows = (struct span){ c.data + c.at + rows_at, (size_t)rows_len };
	return 0;
}

bool sframe_function(const struct sframe *s, uint32_t index, struct sframe_function *f)
{
	uint32_t size = s->version == 1 ? FUNCTION_SIZE_1 : FUNCTION_SIZE_2;
	if (index >= s->count)
		return false;
	struct cursor c = cursor_of(s->functions.data + (size_t)index * size, size, false);
	int64_t start = (int32_t)take_u32(&c);
	uint64_t field = s->flags & FLAG_PC_RELATIVE ? (uint64_t)(c.data - s->bytes.data) : 0;
	f->start = s->address + field + (uint64_t)start;
	f->size = take_u32(&c);
	f->first_row = take_u32(&c);
	f->row_count = take_u32(&c);
	f->info = take_u8(&c);
	bool by_mask = f->info >> 4 & 1;
	f->repeats = !by_mask ? 0 : s->version == 1 ? 16 : take_u8(&c);
	return f->size != 0 && f->first_row <= s->rows.len && f->size <= UINT64_MAX - f->start && !(by_mask && !f->repeats);
}

struct row {
	uint32_t start;
	int32_t offsets[3];
	uint8_t count, info;
};

static int32_t take_offset(struct cursor *c, unsigned size)
{
	return size == 0 ? (int8_t)take_u8(c) : size == 1 ? (int16_t)take_u16(c) : (int32_t)take_u32(c);
}

static bool take_row(struct cursor *c, uint8_t function_info, struct row *row)
{
	unsigned kind = function_info & 15;
	row->start = kind == 0 ? take_u8(c) : kind == 1 ? take_u16(c) : take_u32(c);
	row->info = take_u8(c);
	row->count = row->info >> 1 & 15;
	unsigned size = row->info >> 5 & 3;
	if (kind > 2 || size > 2 || row->count > 3)
		return false;
	for (unsigned i = 0; i < 3; i++)
		row->offsets[i] = i < row->count ? take_offset(c, size) : 0;
	return !c->short_read;
}

static struct saved saved_at(unsigned reg, int32_t offset)
{
	return (struct saved){ .reg = (uint8_t)reg, .kind = SAVED_AT_CFA, .value = offset };
}

/* A row without offsets: code without a caller. */
static uint32_t row_rule(const struct sframe *s, const struct row *row, struct rule_builder *b)
{
	const struct machine *m = machine_of(s->arch);
	bool by_sp = row->info & 1;
	unsigned next = 1;
	struct rule rule = { .cfa_kind = CFA_REGISTER, .cfa_register = by_sp ? m->sp : m->fp, .cfa_value = row->offsets[0],
		.ra = { .reg = m->ra }, .fp = { .reg = m->fp }, .flags = row->info & 0x80 ? RULE_SIGNED : 0 };
	if (!row->count) {
		rule.ra.kind = SAVED_UNDEFINED;
		rule.flags |= RULE_BOTTOM;
		return rule_builder_rule(b, &rule, NULL, 0);
	}
	if (s->fixed_ra)
		rule.ra = saved_at(m->ra, s->fixed_ra);
	else if (next < row->count)
		rule.ra = saved_at(m->ra, row->offsets[next++]);
	if (s->fixed_fp)
		rule.fp = saved_at(m->fp, s->fixed_fp);
	else if (next < row->count)
		rule.fp = saved_at(m->fp, row->offsets[next++]);
	if (by_sp && rule.fp.kind == SAVED_AT_CFA && rule.fp.value < -(int64_t)rule.cfa_value)
		rule.fp = (struct saved){ .reg = m->fp }; /* below the stack pointer: it was popped */
	if (rule.ra.kind == SAVED_AT_CFA && !(rule.flags & RULE_SIGNED))
		rule.flags |= RULE_SIMPLE;
	return rule_builder_rule(b, &rule, NULL, 0);
}

static bool rows_once(const struct sframe *s, const struct sframe_function *f, struct rule_builder *b, uint64_t start, uint64_t from,
	uint64_t to)
{
	struct cursor c = cursor_of(s->rows.data, s->rows.len, false);
	c.at = f->first_row;
	uint64_t last = 0;
	for (uint32_t i = 0; i < f->row_count; i++) {
		struct row row;
		if (!take_row(&c, f->info, &row) || row.start < last) {
			rule_builder_row(b, start + last > from ? start + last : from, RULE_NONE);
			return false;
		}
		last = row.start;
		uint64_t at = start + row.start;
		if (at >= to)
			break;
		rule_builder_row(b, at > from ? at : from, row_rule(s, &row, b));
	}
	return true;
}

bool sframe_rows(struct sframe *s, const struct sframe_function *f, struct rule_builder *b, uint64_t from, uint64_t to)
{
	if (!f->repeats)
		return rows_once(s, f, b, f->start, from, to);
	uint64_t blocks = (to - f->start) / f->repeats + 1;
	if (blocks > REPEATED_ROWS_MAX || blocks * (f->row_count + 1ull) > REPEATED_ROWS_MAX - s->repeated)
		return false;
	s->repeated += (uint32_t)(blocks * (f->row_count + 1ull));
	for (uint64_t start = f->start; start < to; start += f->repeats)
		if (start + f->repeats > from && !rows_once(s, f, b, start, start > from ? start : from,
			to < start + f->repeats ? to : start + f->repeats))
			return false;
	return true;
}
