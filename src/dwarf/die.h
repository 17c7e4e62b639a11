/* Debugging information entries (DIEs): attributes, children, the DIEs that they refer to, source files and address ranges. Format: DWARF
 * 5, sections 2 and 7.5. A DIE is a value that is valid until dwarf_close. Knows no meaning of tags beyond references and ranges. */
#pragma once
#include "base/bytes.h"
#include "dwarf/ranges.h"

struct dwarf_abbrev;
struct dwarf_unit;

struct dwarf_die {
	struct dwarf_unit *unit;      /* NULL: no DIE */
	const struct dwarf_abbrev *abbrev;
	uint64_t at;                  /* offset in .debug_info */
};

/* The value of an attribute. */
struct dwarf_datum {
	struct dwarf_unit *unit;      /* of the DIE that has the attribute */
	uint16_t form;
	uint8_t kind;                 /* enum dwarf_value_kind */
	uint64_t number;
	const char *text;             /* a string; NULL: another kind, or invalid */
	struct span bytes;            /* of a block or an expression */
};

/* Returns the number of units of the file, and the top DIE of one of them: of its split file, if it has one. False: it is damaged, or its
 * split file is absent. */
uint32_t dwarf_unit_count(const struct dwarf *dwarf);
bool dwarf_unit_top(struct dwarf *dwarf, uint32_t number, struct dwarf_die *top);
/* Returns the top DIE of the unit that contains die. */
struct dwarf_die dwarf_die_top(const struct dwarf_die *die);
/* Whether some DIE of the unit of `top` may have its origin or specification in another unit. */
bool dwarf_unit_refers(const struct dwarf_die *top);
/* Returns the size of the unit's DIEs in bytes. */
uint64_t dwarf_unit_size(const struct dwarf *dwarf, uint32_t number);

/* Returns the DIE at an offset of .debug_info in a prepared unit; false: there is no DIE, and *die is unchanged. */
bool dwarf_die_at(struct dwarf_unit *unit, uint64_t at, struct dwarf_die *die);
/* Returns the function at address and the functions inlined there, innermost first, at most max of them. */
size_t dwarf_scopes(struct dwarf *dwarf, uint64_t address, struct dwarf_die *scopes, size_t max);

uint16_t dwarf_die_tag(const struct dwarf_die *die);
static inline bool dwarf_die_same(const struct dwarf_die *a, const struct dwarf_die *b)
{
	return a->unit == b->unit && a->at == b->at;
}

/* Reads an attribute of the DIE itself; `any`: or of the DIEs that its DW_AT_abstract_origin and DW_AT_specification refer to. */
bool dwarf_die_get(const struct dwarf_die *die, uint16_t name, struct dwarf_datum *datum);
bool dwarf_die_get_any(const struct dwarf_die *die, uint16_t name, struct dwarf_datum *datum);
bool dwarf_die_has(const struct dwarf_die *die, uint16_t name);
bool dwarf_die_declares(const struct dwarf_die *die); /* it has DW_AT_declaration; fast */
bool dwarf_die_has_code(const struct dwarf_die *die); /* a function or an inlined call with DW_AT_low_pc or DW_AT_ranges; fast */
/* The same, of one kind of value. */
bool dwarf_die_number(const struct dwarf_die *die, uint16_t name, uint64_t *number);
bool dwarf_die_reference(const struct dwarf_die *die, uint16_t name, struct dwarf_die *target);
/* The place of the DIE that DW_AT_abstract_origin refers to, which may be invalid; only unit and at are set. */
bool dwarf_die_origin(const struct dwarf_die *die, struct dwarf_die *origin);
bool dwarf_datum_reference(const struct dwarf_datum *datum, struct dwarf_die *target);
int64_t dwarf_datum_signed(const struct dwarf_datum *datum); /* sign-extended from the size of its form */
/* Returns DW_AT_name, or DW_AT_linkage_name, of the DIE or of one that it refers to; NULL: absent. */
const char *dwarf_die_name(const struct dwarf_die *die);
const char *dwarf_die_linkage_name(const struct dwarf_die *die);
/* Returns the path of the source file that the attribute (DW_AT_decl_file, DW_AT_call_file) denotes; NULL: unknown. The number counts in
 * the line table of the unit that has the attribute. */
const char *dwarf_die_file(const struct dwarf_die *die, uint16_t name);

/* Adds the ranges of code of the DIE. */
void dwarf_die_ranges(const struct dwarf_die *die, struct dwarf_ranges *ranges);
bool dwarf_die_contains(const struct dwarf_die *die, uint64_t address);
/* Returns the address at which the code is entered: DW_AT_entry_pc, the lowest address, or the start of the first range. */
bool dwarf_die_entry(const struct dwarf_die *die, uint64_t *address);

/* Visits the DIEs below a DIE in the order of the file: for (w = dwarf_walk_of(&top); dwarf_walk_next(&w, &die);). w.skip = true after a
 * DIE: its children are left out. w.depth: 1 for a child of the top. */
struct dwarf_walk {
	struct dwarf_unit *unit;
	struct cursor c;
	uint64_t sibling;             /* of the last DIE; 0: unknown */
	unsigned depth;
	bool children, skip;          /* of the last DIE */
};
struct dwarf_walk dwarf_walk_of(const struct dwarf_die *top);
bool dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_die *die);
