/* Locations: the operations of an expression, and which expression applies at an address (DW_AT_location, DW_AT_frame_base). Format: DWARF
 * 5, sections 2.5, 2.6 and 7.7; .debug_loc of earlier versions. Evaluates nothing. */
#pragma once
#include "dwarf/die.h"

/* Names as in the standard, for callers that interpret operations. */
struct dwarf_operation {
	uint8_t code;                 /* DW_OP_… */
	uint64_t number, second;      /* operands, sign-extended if the standard says so; an index of .debug_addr is resolved */
	struct span block;            /* of DW_OP_entry_value, DW_OP_implicit_value */
};

/* Reads the operations of an expression, at most max of them; 0: it is empty, damaged, or has an unknown operation first. */
size_t dwarf_operations(struct dwarf_unit *unit, struct span expression, struct dwarf_operation *operations, size_t max);

/* Iterates over the expressions of an attribute and the addresses for which they apply. An attribute with one expression yields it with
 * low 0 and high UINT64_MAX. */
struct dwarf_locations {
	struct dwarf_unit *unit;
	struct cursor c;
	uint64_t base;
	struct span single;
	bool list, old, done;
};
struct dwarf_locations dwarf_locations_of(const struct dwarf_datum *datum);
bool dwarf_locations_next(struct dwarf_locations *locations, uint64_t *low, uint64_t *high, struct span *expression);

/* Returns the expression that applies at address; false: no range contains the address. */
bool dwarf_location_at(const struct dwarf_datum *datum, uint64_t address, struct span *expression);
