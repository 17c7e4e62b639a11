/* Attribute values: sizes of forms, and the strings, addresses and references that values denote. Format: DWARF 5, section 7.5. */
#pragma once
#include "dwarf/abbrev.h"
#include "dwarf/internal.h"

enum dwarf_value_kind {
	VALUE_NONE,          /* blocks and flags, which are not needed */
	VALUE_NUMBER, VALUE_ADDRESS, VALUE_ADDRESS_INDEX, VALUE_TEXT, VALUE_TEXT_AT, VALUE_LINE_TEXT_AT, VALUE_ALTERNATE_TEXT_AT,
	VALUE_TEXT_INDEX, VALUE_UNIT_REFERENCE, VALUE_REFERENCE, VALUE_ALTERNATE_REFERENCE, VALUE_SIGNATURE,
};

struct dwarf_value {
	uint16_t form;
	uint8_t kind;        /* enum dwarf_value_kind */
	uint64_t number;     /* number, address, offset or index */
	const char *text;    /* VALUE_TEXT */
};

/* Returns the size of a value of that form in bytes; < 0: it varies. DWARF_SIZE_LEB: a LEB128 number; DWARF_SIZE_BLOCK: a block that begins
 * with its length as ULEB128; others: see form.c. */
enum { DWARF_SIZE_LEB = -1, DWARF_SIZE_BLOCK = -2 };
int dwarf_form_size(const struct dwarf_unit *unit, uint16_t form);
/* Moves past a value; false: the form is unknown or the value exceeds the section. */
bool dwarf_form_skip(const struct dwarf_unit *unit, uint16_t form, struct cursor *c);
/* The same for an attribute of variable size in the plan of an abbreviation. */
static inline bool dwarf_step_skip(const struct dwarf_unit *unit, const struct dwarf_step *step, struct cursor *c)
{
	if (step->size == DWARF_SIZE_BLOCK)
		take(c, take_uleb(c));
	else if (step->size == DWARF_SIZE_LEB)
		skip_leb(c);
	else
		return dwarf_form_skip(unit, step->form, c);
	return true;
}
/* Reads a value and moves past it; false: the form is unknown or the value exceeds the section. */
bool dwarf_value_read(const struct dwarf_unit *unit, const struct dwarf_attribute *attribute, struct cursor *c,
	struct dwarf_value *value);

/* Returns an address by its index in .debug_addr; false: the index is invalid. */
bool dwarf_address_at(const struct dwarf_unit *unit, uint64_t index, uint64_t *address);
/* Returns the address of a VALUE_ADDRESS or VALUE_ADDRESS_INDEX; false: another kind, or an invalid index. */
bool dwarf_value_address(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *address);
const char *dwarf_value_string(const struct dwarf_unit *unit, const struct dwarf_value *value); /* NULL: absent or invalid */
/* Returns the unit that a reference points into, after dwarf_unit_prepare, and the offset in its .debug_info; NULL: the reference is
 * invalid, or a signature (see type_unit.h). */
struct dwarf_unit *dwarf_value_target(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *offset);
