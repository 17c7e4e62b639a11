#include "dwarf/location.h"

#include "base/leb128.h"
#include "dwarf/constants.h"
#include "dwarf/file.h"
#include "dwarf/form.h"

enum operand { NO, U1, S1, U2, S2, U4, S4, U8, S8, UL, SL, ADDRESS, BLOCK };

/* The operands of an operation; false: it is unknown. */
static bool operands_of(uint8_t code, uint8_t kinds[2])
{
	static const uint8_t constants[] = { U1, S1, U2, S2, U4, S4, U8, S8, UL, SL };
	kinds[0] = kinds[1] = NO;
	if (code >= DW_OP_const1u && code <= DW_OP_consts)
		kinds[0] = constants[code - DW_OP_const1u];
	else if (code >= DW_OP_breg0 && code <= DW_OP_breg31)
		kinds[0] = SL;
	else if ((code >= DW_OP_lit0 && code <= DW_OP_reg31) || (code > DW_OP_consts && code < DW_OP_pick))
		return true;
	else
		switch (code) {
		case DW_OP_addr:
			kinds[0] = ADDRESS;
			break;
		case DW_OP_pick:
		case DW_OP_deref_size:
			kinds[0] = U1;
			break;
		case DW_OP_bra:
		case DW_OP_skip:
			kinds[0] = S2;
			break;
		case DW_OP_plus_uconst:
		case DW_OP_regx:
		case DW_OP_piece:
		case DW_OP_addrx:
		case DW_OP_GNU_addr_index:
			kinds[0] = UL;
			break;
		case DW_OP_fbreg:
			kinds[0] = SL;
			break;
		case DW_OP_bregx:
			kinds[0] = UL;
			kinds[1] = SL;
			break;
		case DW_OP_bit_piece:
			kinds[0] = kinds[1] = UL;
			break;
		case DW_OP_implicit_value:
		case DW_OP_entry_value:
		case DW_OP_GNU_entry_value:
			kinds[0] = BLOCK;
			break;
		default:
			return code == DW_OP_deref || code == DW_OP_call_frame_cfa || code == DW_OP_stack_value ||
				(code > DW_OP_pick && code < DW_OP_lit0);
		}
	return true;
}

static uint64_t operand_take(struct dwarf_unit *unit, uint8_t kind, struct cursor *c, struct span *block)
{
	switch (kind) {
	case U1: return take_u8(c);
	case S1: return (uint64_t)(int8_t)take_u8(c);
	case U2: return take_u16(c);
	case S2: return (uint64_t)(int16_t)take_u16(c);
	case U4: return take_u32(c);
	case S4: return (uint64_t)(int32_t)take_u32(c);
	case U8:
	case S8: return take_u64(c);
	case UL: return take_uleb(c);
	case SL: return (uint64_t)take_sleb(c);
	case ADDRESS: return take_number(c, unit->address_size);
	case BLOCK:
		block->len = take_uleb(c);
		block->data = take(c, block->len);
		return 0;
	default: return 0;
	}
}

size_t dwarf_operations(struct dwarf_unit *unit, struct span expression, struct dwarf_operation *operations, size_t max)
{
	struct cursor c = cursor_of(expression.data, expression.len, unit->file->swap);
	size_t count = 0;
	while (count < max && cursor_left(&c)) {
		struct dwarf_operation *op = &operations[count];
		uint8_t kinds[2];
		*op = (struct dwarf_operation){ .code = take_u8(&c) };
		if (!operands_of(op->code, kinds))
			break;
		op->number = operand_take(unit, kinds[0], &c, &op->block);
		op->second = operand_take(unit, kinds[1], &c, &op->block);
		if (c.short_read)
			return 0;
		if ((op->code == DW_OP_addrx || op->code == DW_OP_GNU_addr_index)) {
			if (!dwarf_address_at(unit, op->number, &op->number))
				return 0;
			op->code = DW_OP_addr;
		}
		count++;
	}
	return count;
}

struct dwarf_locations dwarf_locations_of(const struct dwarf_datum *datum)
{
	struct dwarf_unit *unit = datum->unit;
	struct dwarf_locations out = { .unit = unit, .base = unit->low, .old = unit->version < 5 };
	if (datum->kind != VALUE_NUMBER) {
		out.single = datum->bytes;
		return out;
	}
	enum dwarf_section section = out.old ? SECTION_LOC : SECTION_LOCLISTS;
	uint64_t at = datum->number;
	out.list = true;
	dwarf_file_section(unit->file, section);
	out.c = section_cursor(unit->file, section);
	if (datum->form == DW_FORM_loclistx) {
		struct cursor c = out.c;
		if (at > c.len || !cursor_seek(&c, unit->loclists_base) || !take(&c, at * unit->offset_size))
			out.done = true;
		at = unit->loclists_base + take_number(&c, unit->offset_size);
		out.done |= c.short_read;
	}
	out.done |= !cursor_seek(&out.c, at);
	return out;
}

static uint64_t address_take(struct dwarf_locations *l, bool indexed)
{
	uint64_t address = 0;
	if (!indexed)
		return take_number(&l->c, l->unit->address_size);
	l->done |= !dwarf_address_at(l->unit, take_uleb(&l->c), &address);
	return address;
}

/* An entry of .debug_loc: 1 with an expression, 0 without; the end sets done. */
static int old_entry(struct dwarf_locations *l, uint64_t *low, uint64_t *high)
{
	uint64_t ones = UINT64_MAX >> (64 - 8 * l->unit->address_size);
	*low = take_number(&l->c, l->unit->address_size);
	*high = take_number(&l->c, l->unit->address_size);
	if (*low == ones) {
		l->base = *high;
		return 0;
	}
	if (!*low && !*high) {
		l->done = true;
		return 0;
	}
	*low += l->base;
	*high += l->base;
	return 1;
}

/* The same of .debug_loc.dwo. */
static int split_entry(struct dwarf_locations *l, uint64_t *low, uint64_t *high)
{
	switch (take_u8(&l->c)) {
	case DW_LLE_GNU_base_address_selection:
		l->base = address_take(l, true);
		return 0;
	case DW_LLE_GNU_start_end:
		*low = address_take(l, true);
		*high = address_take(l, true);
		return 1;
	case DW_LLE_GNU_start_length:
		*low = address_take(l, true);
		*high = *low + take_u32(&l->c);
		return 1;
	default:
		l->done = true;
		return 0;
	}
}

/* The same of .debug_loclists. */
static int list_entry(struct dwarf_locations *l, uint64_t *low, uint64_t *high)
{
	uint8_t kind = take_u8(&l->c);
	switch (kind) {
	case DW_LLE_base_addressx:
	case DW_LLE_base_address:
		l->base = address_take(l, kind == DW_LLE_base_addressx);
		return 0;
	case DW_LLE_offset_pair:
		*low = l->base + take_uleb(&l->c);
		*high = l->base + take_uleb(&l->c);
		return 1;
	case DW_LLE_default_location:
		*low = 0;
		*high = UINT64_MAX;
		return 1;
	case DW_LLE_startx_endx:
	case DW_LLE_start_end:
		*low = address_take(l, kind == DW_LLE_startx_endx);
		*high = address_take(l, kind == DW_LLE_startx_endx);
		return 1;
	case DW_LLE_startx_length:
	case DW_LLE_start_length:
		*low = address_take(l, kind == DW_LLE_startx_length);
		*high = *low + take_uleb(&l->c);
		return 1;
	case DW_LLE_GNU_view_pair:
		skip_leb(&l->c);
		skip_leb(&l->c);
		return 0;
	default:
		l->done = true;
		return 0;
	}
}

bool dwarf_locations_next(struct dwarf_locations *l, uint64_t *low, uint64_t *high, struct span *expression)
{
	if (!l->list) {
		bool first = !l->done && l->single.len;
		l->done = true;
		*low = 0;
		*high = UINT64_MAX;
		*expression = l->single;
		return first;
	}
	while (!l->done && !l->c.short_read && dwarf_work(l->unit->file->dwarf, 1)) {
		if (!(!l->old ? list_entry : l->unit->file->split ? split_entry : old_entry)(l, low, high) || l->done)
			continue;
		expression->len = l->old ? take_u16(&l->c) : take_uleb(&l->c);
		expression->data = take(&l->c, expression->len);
		return expression->data != NULL && !l->c.short_read;
	}
	return false;
}

bool dwarf_location_at(const struct dwarf_datum *datum, uint64_t address, struct span *expression)
{
	struct dwarf_locations locations = dwarf_locations_of(datum);
	uint64_t low, high;
	while (dwarf_locations_next(&locations, &low, &high, expression))
		if (address >= low && address < high)
			return true;
	return false;
}
