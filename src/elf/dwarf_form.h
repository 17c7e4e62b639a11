/* Attribute values: how long each form is, what it holds, and where strings, addresses and references lead. Format: DWARF 5,
 * section 7.5. */
#pragma once
#include "elf/dwarf_abbrev.h"
#include "elf/dwarf_internal.h"

enum dwarf_value_kind {
	VALUE_NONE,          /* blocks, flags: nothing that is asked for */
	VALUE_NUMBER, VALUE_ADDRESS, VALUE_ADDRESS_INDEX, VALUE_TEXT, VALUE_TEXT_AT, VALUE_LINE_TEXT_AT, VALUE_ALTERNATE_TEXT_AT,
	VALUE_TEXT_INDEX, VALUE_UNIT_REFERENCE, VALUE_REFERENCE, VALUE_ALTERNATE_REFERENCE,
};

struct dwarf_value {
	uint16_t form;
	uint8_t kind;        /* enum dwarf_value_kind */
	uint64_t number;     /* the number, address, offset or index */
	const char *text;    /* VALUE_TEXT */
};

/* Bytes that a value of that form takes in this unit; < 0: it depends, on what one of these says. */
enum { DWARF_SIZE_LEB = -1, DWARF_SIZE_BLOCK = -2 };
int dwarf_form_size(const struct dwarf_unit *unit, uint16_t form);
/* False: unknown form, or no room for it. */
bool dwarf_form_skip(const struct dwarf_unit *unit, uint16_t form, struct cursor *c);
bool dwarf_value_read(const struct dwarf_unit *unit, const struct dwarf_attribute *attribute, struct cursor *c,
	struct dwarf_value *value);

bool dwarf_address_at(const struct dwarf_unit *unit, uint64_t index, uint64_t *address);
bool dwarf_value_address(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *address);
const char *dwarf_value_string(const struct dwarf_unit *unit, const struct dwarf_value *value); /* NULL: none */
/* The unit that a reference leads into, ready to read, and the place in its .debug_info; NULL. */
struct dwarf_unit *dwarf_value_target(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *offset);
