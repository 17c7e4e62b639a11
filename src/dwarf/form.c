#include "dwarf/form.h"

#include "dwarf/constants.h"
#include "dwarf/file.h"

enum {
	SIZE_LEB = DWARF_SIZE_LEB, SIZE_BLOCK = DWARF_SIZE_BLOCK, SIZE_BLOCK1 = -3, SIZE_BLOCK2 = -4, SIZE_BLOCK4 = -5,
	SIZE_STRING = -6, SIZE_INDIRECT = -7, SIZE_OFFSET = -8, SIZE_ADDRESS = -9, SIZE_REF_ADDR = -10, SIZE_SLEB = -11,
};

static const struct {
	int8_t size;      /* size in bytes, or one of the constants above */
	uint8_t kind;     /* of the value; VALUE_NONE for blocks and flags */
} forms[] = {
	[DW_FORM_addr] = { SIZE_ADDRESS, VALUE_ADDRESS },
	[DW_FORM_block2] = { SIZE_BLOCK2, VALUE_NONE },
	[DW_FORM_block4] = { SIZE_BLOCK4, VALUE_NONE },
	[DW_FORM_data2] = { 2, VALUE_NUMBER },
	[DW_FORM_data4] = { 4, VALUE_NUMBER },
	[DW_FORM_data8] = { 8, VALUE_NUMBER },
	[DW_FORM_string] = { SIZE_STRING, VALUE_TEXT },
	[DW_FORM_block] = { SIZE_BLOCK, VALUE_NONE },
	[DW_FORM_block1] = { SIZE_BLOCK1, VALUE_NONE },
	[DW_FORM_data1] = { 1, VALUE_NUMBER },
	[DW_FORM_flag] = { 1, VALUE_NUMBER },
	[DW_FORM_sdata] = { SIZE_SLEB, VALUE_NUMBER },
	[DW_FORM_strp] = { SIZE_OFFSET, VALUE_TEXT_AT },
	[DW_FORM_udata] = { SIZE_LEB, VALUE_NUMBER },
	[DW_FORM_ref_addr] = { SIZE_REF_ADDR, VALUE_REFERENCE },
	[DW_FORM_ref1] = { 1, VALUE_UNIT_REFERENCE },
	[DW_FORM_ref2] = { 2, VALUE_UNIT_REFERENCE },
	[DW_FORM_ref4] = { 4, VALUE_UNIT_REFERENCE },
	[DW_FORM_ref8] = { 8, VALUE_UNIT_REFERENCE },
	[DW_FORM_ref_udata] = { SIZE_LEB, VALUE_UNIT_REFERENCE },
	[DW_FORM_indirect] = { SIZE_INDIRECT, VALUE_NONE },
	[DW_FORM_sec_offset] = { SIZE_OFFSET, VALUE_NUMBER },
	[DW_FORM_exprloc] = { SIZE_BLOCK, VALUE_NONE },
	[DW_FORM_flag_present] = { 0, VALUE_NONE },
	[DW_FORM_strx] = { SIZE_LEB, VALUE_TEXT_INDEX },
	[DW_FORM_addrx] = { SIZE_LEB, VALUE_ADDRESS_INDEX },
	[DW_FORM_ref_sup4] = { 4, VALUE_ALTERNATE_REFERENCE },
	[DW_FORM_strp_sup] = { SIZE_OFFSET, VALUE_ALTERNATE_TEXT_AT },
	[DW_FORM_data16] = { 16, VALUE_NONE },
	[DW_FORM_line_strp] = { SIZE_OFFSET, VALUE_LINE_TEXT_AT },
	[DW_FORM_ref_sig8] = { 8, VALUE_SIGNATURE },
	[DW_FORM_implicit_const] = { 0, VALUE_NUMBER },
	[DW_FORM_loclistx] = { SIZE_LEB, VALUE_NUMBER },
	[DW_FORM_rnglistx] = { SIZE_LEB, VALUE_NUMBER },
	[DW_FORM_ref_sup8] = { 8, VALUE_ALTERNATE_REFERENCE },
	[DW_FORM_strx1] = { 1, VALUE_TEXT_INDEX },
	[DW_FORM_strx2] = { 2, VALUE_TEXT_INDEX },
	[DW_FORM_strx3] = { 3, VALUE_TEXT_INDEX },
	[DW_FORM_strx4] = { 4, VALUE_TEXT_INDEX },
	[DW_FORM_addrx1] = { 1, VALUE_ADDRESS_INDEX },
	[DW_FORM_addrx2] = { 2, VALUE_ADDRESS_INDEX },
	[DW_FORM_addrx3] = { 3, VALUE_ADDRESS_INDEX },
	[DW_FORM_addrx4] = { 4, VALUE_ADDRESS_INDEX },
};

/* GNU forms are mapped to the standard forms that replaced them. Returns false for an unknown form. */
static bool form_known(uint16_t form, int *size, uint8_t *kind)
{
	bool alternate = form == DW_FORM_GNU_ref_alt;
	form = form == DW_FORM_GNU_addr_index ? DW_FORM_addrx : form == DW_FORM_GNU_str_index ? DW_FORM_strx :
		form == DW_FORM_GNU_strp_alt ? DW_FORM_strp_sup : alternate ? DW_FORM_sec_offset : form;
	if (form >= sizeof forms / sizeof *forms || (!forms[form].size && !forms[form].kind && form != DW_FORM_flag_present))
		return false;
	*size = forms[form].size;
	*kind = alternate ? VALUE_ALTERNATE_REFERENCE : forms[form].kind;
	return true;
}

static int size_in_unit(const struct dwarf_unit *unit, int size)
{
	if (size == SIZE_OFFSET)
		return unit->offset_size;
	if (size == SIZE_ADDRESS)
		return unit->address_size;
	if (size == SIZE_REF_ADDR)
		return unit->version == 2 ? unit->address_size : unit->offset_size;
	return size;
}

int dwarf_form_size(const struct dwarf_unit *unit, uint16_t form)
{
	int size;
	uint8_t kind;
	return form_known(form, &size, &kind) ? size_in_unit(unit, size) : -1;
}

/* DW_FORM_indirect: the form precedes the value. Nested indirection is invalid. */
static bool form_indirect(uint16_t *form, int *size, uint8_t *kind, struct cursor *c)
{
	uint64_t inner = take_uleb(c);
	*form = inner <= UINT16_MAX ? (uint16_t)inner : 0;
	return !c->short_read && form_known(*form, size, kind) && *size != SIZE_INDIRECT && *form != DW_FORM_implicit_const;
}

static bool skip_sized(int size, struct cursor *c)
{
	switch (size) {
	case SIZE_LEB:
	case SIZE_SLEB:
		skip_leb(c);
		break;
	case SIZE_BLOCK:
		take(c, take_uleb(c));
		break;
	case SIZE_BLOCK1:
		take(c, take_u8(c));
		break;
	case SIZE_BLOCK2:
		take(c, take_u16(c));
		break;
	case SIZE_BLOCK4:
		take(c, take_u32(c));
		break;
	case SIZE_STRING: {
		const uint8_t *end = memchr(c->data + c->at, 0, cursor_left(c));
		take(c, end ? (size_t)(end - (c->data + c->at)) + 1 : SIZE_MAX);
		break;
	}
	default:
		take(c, (size_t)size);
	}
	return !c->short_read;
}

bool dwarf_form_skip(const struct dwarf_unit *unit, uint16_t form, struct cursor *c)
{
	int size;
	uint8_t kind;
	if (!form_known(form, &size, &kind) || (size == SIZE_INDIRECT && !form_indirect(&form, &size, &kind, c)))
		return false;
	return skip_sized(size_in_unit(unit, size), c);
}

bool dwarf_value_read(const struct dwarf_unit *unit, const struct dwarf_attribute *attribute, struct cursor *c,
	struct dwarf_value *value)
{
	int size;
	uint8_t kind;
	*value = (struct dwarf_value){ .form = attribute->form };
	if (!form_known(value->form, &size, &kind) || (size == SIZE_INDIRECT && !form_indirect(&value->form, &size, &kind, c)))
		return false;
	size = size_in_unit(unit, size);
	value->kind = kind;
	if (kind == VALUE_TEXT)
		value->text = (const char *)c->data + c->at;
	if (kind == VALUE_NONE || kind == VALUE_TEXT)
		return skip_sized(size, c);
	if (value->form == DW_FORM_implicit_const)
		value->number = (uint64_t)attribute->constant;
	else if (size == SIZE_LEB)
		value->number = take_uleb(c);
	else if (size == SIZE_SLEB)
		value->number = (uint64_t)take_sleb(c);
	else
		value->number = take_number(c, (unsigned)size);
	return !c->short_read;
}

bool dwarf_address_at(const struct dwarf_unit *unit, uint64_t index, uint64_t *address)
{
	const struct dwarf_file *file = unit->file->addresses;
	struct cursor c = section_cursor(file, SECTION_ADDR);
	if (index >= c.len || !cursor_seek(&c, unit->addr_base) || !take(&c, index * unit->address_size))
		return false;
	*address = take_number(&c, unit->address_size);
	return !c.short_read;
}

bool dwarf_value_address(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *address)
{
	if (value->kind == VALUE_ADDRESS_INDEX)
		return dwarf_address_at(unit, value->number, address);
	*address = value->number;
	return value->kind == VALUE_ADDRESS;
}

static const char *section_text_at(const struct dwarf_file *file, enum dwarf_section section, uint64_t offset)
{
	struct span strings = file->section[section];
	return offset < strings.len ? (const char *)strings.data + offset : NULL;
}

const char *dwarf_value_string(const struct dwarf_unit *unit, const struct dwarf_value *value)
{
	const struct dwarf_file *file = unit->file;
	switch (value->kind) {
	case VALUE_TEXT:
		return value->text;
	case VALUE_TEXT_AT:
		return section_text_at(file, SECTION_STR, value->number);
	case VALUE_LINE_TEXT_AT:
		return section_text_at(file, SECTION_LINE_STR, value->number);
	case VALUE_ALTERNATE_TEXT_AT:
		return file->dwarf->has_alternate ? section_text_at(&file->dwarf->alternate, SECTION_STR, value->number) : NULL;
	case VALUE_TEXT_INDEX: {
		struct cursor c = section_cursor(file, SECTION_STR_OFFSETS);
		if (value->number > c.len || !cursor_seek(&c, unit->str_offsets_base) || !take(&c, value->number * unit->offset_size))
			return NULL;
		uint64_t offset = take_number(&c, unit->offset_size);
		return c.short_read ? NULL : section_text_at(file, SECTION_STR, offset);
	}
	default:
		return NULL;
	}
}

struct dwarf_unit *dwarf_value_target(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *offset)
{
	const struct dwarf_file *file = unit->file;
	struct dwarf_unit *target = NULL;
	*offset = value->number;
	if (value->kind == VALUE_UNIT_REFERENCE) {
		if (value->number >= unit->end - unit->offset)
			return NULL;
		*offset += unit->offset;
		return (struct dwarf_unit *)unit;
	}
	if (value->kind == VALUE_REFERENCE)
		target = *offset >= unit->offset && *offset < unit->end ? (struct dwarf_unit *)unit : dwarf_file_unit(file, *offset);
	else if (value->kind == VALUE_ALTERNATE_REFERENCE && file->dwarf->has_alternate)
		target = dwarf_file_unit(&file->dwarf->alternate, *offset);
	return target && dwarf_unit_prepare(target) ? target : NULL;
}
