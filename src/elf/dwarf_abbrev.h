/* Abbreviation tables, decoded once each. For walking, an abbreviation has a plan: it reads the few attributes wanted and steps
 * over runs of the others in one move. Who wants all attributes reads them as written. */
#pragma once
#include "elf/dwarf_internal.h"

struct dwarf_attribute {
	uint16_t name, form;
	int64_t constant;              /* DW_FORM_implicit_const */
};

/* What a walk reads of an entry. */
enum dwarf_slot { SLOT_LOW, SLOT_HIGH, SLOT_RANGES, SLOT_CALL_FILE, SLOT_CALL_LINE, SLOT_SIBLING, SLOT_COUNT, SLOT_NONE };

struct dwarf_step {
	uint16_t skip;                 /* bytes of fixed size before it */
	uint16_t form;                 /* 0: nothing but the skip */
	uint16_t constant;             /* DW_FORM_implicit_const: its place in the table's constants */
	uint8_t slot;                  /* SLOT_NONE: of variable size, passed over */
	int8_t size;                   /* dwarf_form_size() */
};

enum dwarf_entry_kind {
	ENTRY_PLAIN,                   /* may hold functions, is none */
	ENTRY_CODELESS,                /* its children are passed over where a sibling is named */
	ENTRY_TYPE,                    /* seldom holds functions with code */
	ENTRY_FUNCTION, ENTRY_INLINED,
};

struct dwarf_abbrev {
	uint32_t spec;                 /* its attributes as written, from the start of the table */
	uint32_t steps;                /* the first one */
	uint16_t step_count;
	uint16_t tail;                 /* bytes after the last step */
	uint16_t tag;
	uint8_t kind;                  /* enum dwarf_entry_kind */
	bool children : 1, code : 1;   /* code: says where code lies */
};

struct dwarf_abbrevs {
	struct dwarf_abbrev *items;
	struct dwarf_step *steps;
	int64_t *constants;
	uint64_t *codes;               /* sorted; NULL: item i has code i + 1 */
	uint32_t count;
	bool code;                     /* one of the functions says where its code lies */
	size_t memory;
};

/* The unit's table; NULL: damaged or beyond a limit. The caller holds the file's lock. */
const struct dwarf_abbrevs *dwarf_abbrevs_get(struct dwarf_unit *unit);
void dwarf_abbrevs_free(struct dwarf_abbrevs *abbrevs);

const struct dwarf_abbrev *dwarf_abbrev_search(const struct dwarf_abbrevs *abbrevs, uint64_t code);
/* NULL: no such code (0 is none). */
static inline const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	if (__builtin_expect(!abbrevs->codes, 1))
		return code - 1 < abbrevs->count ? &abbrevs->items[code - 1] : NULL;
	return dwarf_abbrev_search(abbrevs, code);
}

/* All attributes of an abbreviation: for (spec = dwarf_spec_of(…); dwarf_spec_next(&spec);) spec.attribute … */
struct dwarf_spec {
	struct cursor c;
	struct dwarf_attribute attribute;
};

struct dwarf_spec dwarf_spec_of(const struct dwarf_unit *unit, const struct dwarf_abbrev *abbrev);
bool dwarf_spec_next(struct dwarf_spec *spec);
