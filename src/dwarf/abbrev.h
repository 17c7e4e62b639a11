/* Abbreviation tables, each decoded once. An abbreviation has a plan for walking DIEs: it reads the few attributes of enum dwarf_slot and
 * skips sequences of other attributes of fixed size in one step. struct dwarf_spec iterates over all attributes. Format: DWARF 5, section
 * 7.5.3. */
#pragma once
#include "dwarf/constants.h"
#include "dwarf/internal.h"

struct dwarf_attribute {
	uint16_t name, form;
	int64_t constant;              /* DW_FORM_implicit_const */
};

/* The attributes that a walk reads. */
enum dwarf_slot { SLOT_LOW, SLOT_HIGH, SLOT_RANGES, SLOT_CALL_FILE, SLOT_CALL_LINE, SLOT_SIBLING, SLOT_COUNT, SLOT_NONE };

struct dwarf_step {
	uint16_t skip;                 /* bytes of fixed size before the attribute */
	uint16_t form;                 /* 0: the step has no attribute, only the skip */
	uint16_t constant;             /* DW_FORM_implicit_const: index in the table's constants */
	uint8_t slot;                  /* SLOT_NONE: an attribute of variable size, which is skipped */
	int8_t size;                   /* dwarf_form_size() */
};

enum dwarf_entry_kind {
	ENTRY_PLAIN,                   /* not a function, but may contain functions */
	ENTRY_CODELESS,                /* its children are skipped if it has DW_AT_sibling */
	ENTRY_TYPE,                    /* rarely contains functions with code */
	ENTRY_FUNCTION, ENTRY_INLINED,
};

/* Attributes that are read without their predecessors, if these have fixed sizes. */
enum dwarf_quick { QUICK_NAME, QUICK_LINKAGE, QUICK_ORIGIN, QUICK_SPECIFICATION, QUICK_COUNT };
enum { QUICK_ELSEWHERE = 254, QUICK_ABSENT = 255 };

struct dwarf_abbrev {
	struct {
		uint16_t form;
		uint8_t at;            /* bytes after the abbreviation code, QUICK_ELSEWHERE or QUICK_ABSENT */
	} quick[QUICK_COUNT];
	uint16_t fixed;                /* bytes of the attributes so far; UINT16_MAX: one has a variable size */
	uint32_t spec;                 /* offset of its attributes from the start of the table */
	uint32_t steps;                /* index of the first step */
	uint16_t step_count;
	uint16_t tail;                 /* bytes of fixed size after the last step */
	uint16_t tag;
	uint8_t kind;                  /* enum dwarf_entry_kind */
	bool children : 1, code : 1;   /* code: it has an attribute that gives code addresses */
	bool declaration : 1;          /* it has DW_AT_declaration */
};

struct dwarf_abbrevs {
	struct dwarf_abbrev *items;
	struct dwarf_step *steps;
	int64_t *constants;
	uint64_t *codes;               /* sorted; NULL: item i has code i + 1 */
	uint32_t count;
	bool code;                     /* some function has an attribute that gives code addresses */
	bool foreign;                  /* some DIE has its origin or specification in another unit */
	size_t memory;
};

static inline enum dwarf_quick dwarf_quick_of(uint16_t name)
{
	return name == DW_AT_name ? QUICK_NAME : name == DW_AT_linkage_name ? QUICK_LINKAGE : name == DW_AT_abstract_origin ? QUICK_ORIGIN :
		name == DW_AT_specification ? QUICK_SPECIFICATION : QUICK_COUNT;
}

/* Returns the unit's table, reading it at the first call; NULL: it is damaged or exceeds a limit. The caller holds the file's lock. */
const struct dwarf_abbrevs *dwarf_abbrevs_get(struct dwarf_unit *unit);
void dwarf_abbrevs_free(struct dwarf_abbrevs *abbrevs);

const struct dwarf_abbrev *dwarf_abbrev_search(const struct dwarf_abbrevs *abbrevs, uint64_t code);
/* Returns NULL for an unknown code and for 0, which is not a valid code. */
static inline const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	if (__builtin_expect(!abbrevs->codes, 1))
		return code - 1 < abbrevs->count ? &abbrevs->items[code - 1] : NULL;
	return dwarf_abbrev_search(abbrevs, code);
}

/* Iterates over all attributes of an abbreviation: for (spec = dwarf_spec_of(…); dwarf_spec_next(&spec);) spec.attribute … */
struct dwarf_spec {
	struct cursor c;
	struct dwarf_attribute attribute;
};

struct dwarf_spec dwarf_spec_of(const struct dwarf_unit *unit, const struct dwarf_abbrev *abbrev);
bool dwarf_spec_next(struct dwarf_spec *spec);
