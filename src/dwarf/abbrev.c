#include "dwarf/abbrev.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/search.h"
#include "dwarf/constants.h"
#include "dwarf/form.h"

struct draft {
	uint64_t code;
	struct dwarf_abbrev abbrev;
};

/* An abbreviation table while it is read. */
struct drafts {
	VEC(struct draft) items;
	VEC(struct dwarf_step) steps;
	VEC(int64_t) constants;
	bool foreign;
};

static uint8_t kind_of_tag(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_entry_point:
		return ENTRY_FUNCTION;
	case DW_TAG_inlined_subroutine:
		return ENTRY_INLINED;
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return ENTRY_TYPE;
	case DW_TAG_array_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
	case DW_TAG_GNU_formal_parameter_pack:
	case DW_TAG_GNU_template_parameter_pack:
		return ENTRY_CODELESS;
	default:
		return ENTRY_PLAIN;
	}
}

static uint8_t slot_of_attribute(const struct dwarf_abbrev *abbrev, uint16_t name)
{
	if (abbrev->kind == ENTRY_PLAIN)
		return SLOT_NONE;
	if (name == DW_AT_sibling)
		return abbrev->children ? SLOT_SIBLING : SLOT_NONE;
	if (abbrev->kind < ENTRY_FUNCTION)
		return SLOT_NONE;
	switch (name) {
	case DW_AT_low_pc:
		return SLOT_LOW;
	case DW_AT_high_pc:
		return SLOT_HIGH;
	case DW_AT_ranges:
		return SLOT_RANGES;
	case DW_AT_call_file:
		return abbrev->kind == ENTRY_INLINED ? SLOT_CALL_FILE : SLOT_NONE;
	case DW_AT_call_line:
		return abbrev->kind == ENTRY_INLINED ? SLOT_CALL_LINE : SLOT_NONE;
	default:
		return SLOT_NONE;
	}
}

/* Stores where the attribute is, if walks ask for it alone. */
static void quick_add(struct dwarf_abbrev *abbrev, const struct dwarf_attribute *a, int size)
{
	enum dwarf_quick quick = dwarf_quick_of(a->name);
	if (quick < QUICK_COUNT) {
		abbrev->quick[quick].form = a->form;
		abbrev->quick[quick].at = abbrev->fixed < QUICK_ELSEWHERE && a->form != DW_FORM_implicit_const ? (uint8_t)abbrev->fixed :
			QUICK_ELSEWHERE;
	}
	if (size < 0 || abbrev->fixed >= QUICK_ELSEWHERE)
		abbrev->fixed = UINT16_MAX;
	else
		abbrev->fixed += (uint16_t)size;
}

/* Adds one attribute to the abbreviation's plan. */
static void plan_add(struct drafts *drafts, struct dwarf_abbrev *abbrev, const struct dwarf_attribute *a,
	const struct dwarf_unit *unit)
{
	uint8_t slot = slot_of_attribute(abbrev, a->name);
	int size = dwarf_form_size(unit, a->form);
	quick_add(abbrev, a, size);
	if (slot <= SLOT_RANGES)
		abbrev->code = true;
	if (a->name == DW_AT_declaration)
		abbrev->declaration = true;
	bool leaves = a->form == DW_FORM_ref_addr || a->form == DW_FORM_GNU_ref_alt || a->form == DW_FORM_ref_sup4 || a->form == DW_FORM_ref_sup8;
	if (leaves && (a->name == DW_AT_abstract_origin || a->name == DW_AT_specification))
		drafts->foreign = true;
	if (slot == SLOT_NONE && size >= 0 && size + abbrev->tail <= UINT16_MAX) {
		abbrev->tail += (uint16_t)size;
		return;
	}
	struct dwarf_step step = { .skip = abbrev->tail, .form = a->form, .slot = slot, .size = (int8_t)size };
	if (slot != SLOT_NONE && a->form == DW_FORM_implicit_const) {
		step.constant = (uint16_t)drafts->constants.count;
		vec_push(&drafts->constants, a->constant);
	}
	vec_push(&drafts->steps, step);
	abbrev->tail = 0;
}

struct dwarf_spec dwarf_spec_of(const struct dwarf_unit *unit, const struct dwarf_abbrev *abbrev)
{
	struct dwarf_spec spec = { .c = section_cursor(unit->file, SECTION_ABBREV) };
	cursor_seek(&spec.c, unit->abbrev_offset + abbrev->spec);
	return spec;
}

bool dwarf_spec_next(struct dwarf_spec *spec)
{
	uint64_t name = take_uleb(&spec->c), form = take_uleb(&spec->c);
	if (spec->c.short_read || form > UINT16_MAX || (!name && !form))
		return false;
	spec->attribute = (struct dwarf_attribute){ .name = name <= UINT16_MAX ? (uint16_t)name : 0, .form = (uint16_t)form };
	if (form == DW_FORM_implicit_const)
		spec->attribute.constant = take_sleb(&spec->c);
	return !spec->c.short_read;
}

/* Reads one abbreviation. Returns 1, 0 at the end of the table, < 0 if it is damaged. */
static int draft_read(struct drafts *drafts, struct cursor *c, const struct dwarf_unit *unit)
{
	struct draft draft = { .code = take_uleb(c), .abbrev.steps = (uint32_t)drafts->steps.count };
	if (!draft.code)
		return c->short_read && cursor_left(c) ? -1 : 0;
	uint64_t tag = take_uleb(c);
	draft.abbrev.tag = tag <= UINT16_MAX ? (uint16_t)tag : 0;
	draft.abbrev.children = take_u8(c);
	draft.abbrev.kind = kind_of_tag(draft.abbrev.tag);
	for (unsigned i = 0; i < QUICK_COUNT; i++)
		draft.abbrev.quick[i].at = QUICK_ABSENT;
	draft.abbrev.spec = (uint32_t)(c->at - unit->abbrev_offset);
	struct dwarf_spec spec = { .c = *c };
	uint64_t attributes = 1;
	for (; dwarf_spec_next(&spec); attributes++)
		plan_add(drafts, &draft.abbrev, &spec.attribute, unit);
	*c = spec.c;
	size_t steps = drafts->steps.count - draft.abbrev.steps;
	if (c->short_read || c->data[c->at - 1] || steps > UINT16_MAX || drafts->constants.count > UINT16_MAX ||
	    c->at - unit->abbrev_offset > UINT32_MAX || !dwarf_work(unit->file->dwarf, attributes))
		return -1;
	draft.abbrev.step_count = (uint16_t)steps;
	vec_push(&drafts->items, draft);
	return 1;
}

static int draft_compare(const void *a, const void *b)
{
	const struct draft *x = a, *y = b;
	return x->code < y->code ? -1 : x->code > y->code;
}

static struct dwarf_abbrevs *drafts_finish(struct drafts *drafts)
{
	struct dwarf_abbrevs *out = memory_zero(1, sizeof *out);
	uint32_t count = out->count = (uint32_t)drafts->items.count;
	out->foreign = drafts->foreign;
	bool dense = true;
	for (uint32_t i = 0; i < count; i++)
		dense &= drafts->items.items[i].code == i + 1;
	if (!dense) {
		qsort(drafts->items.items, count, sizeof *drafts->items.items, draft_compare);
		out->codes = memory_alloc(count * sizeof *out->codes + 1);
	}
	out->items = memory_alloc(count * sizeof *out->items + 1);
	for (uint32_t i = 0; i < count; i++) {
		out->items[i] = drafts->items.items[i].abbrev;
		out->code |= out->items[i].code;
		if (out->codes)
			out->codes[i] = drafts->items.items[i].code;
	}
	out->steps = memory_resize(drafts->steps.items, drafts->steps.count + 1, sizeof *out->steps);
	out->constants = memory_resize(drafts->constants.items, drafts->constants.count + 1, sizeof *out->constants);
	out->memory = sizeof *out + count * (sizeof *out->items + (dense ? 0 : sizeof *out->codes)) +
		drafts->steps.count * sizeof *out->steps + drafts->constants.count * sizeof *out->constants;
	vec_fini(&drafts->items);
	return out;
}

static struct dwarf_abbrevs *abbrevs_read(const struct dwarf_unit *unit)
{
	struct cursor c = section_cursor(unit->file, SECTION_ABBREV);
	struct drafts drafts = { 0 };
	int more = cursor_seek(&c, unit->abbrev_offset) ? 1 : -1;
	while (more > 0)
		more = draft_read(&drafts, &c, unit);
	if (more < 0) {
		vec_fini(&drafts.items);
		vec_fini(&drafts.steps);
		vec_fini(&drafts.constants);
		return NULL;
	}
	struct dwarf_abbrevs *out = drafts_finish(&drafts);
	if (dwarf_memory_take(unit->file->dwarf, out->memory))
		return out;
	dwarf_abbrevs_free(out);
	return NULL;
}

const struct dwarf_abbrevs *dwarf_abbrevs_get(struct dwarf_unit *unit)
{
	struct dwarf_file *file = unit->file;
	/* the plan depends on the sizes of addresses and offsets, and DWARF 2 has another DW_FORM_ref_addr */
	uint64_t key = unit->abbrev_offset << 8 | (uint64_t)(unit->version == 2) << 7 | unit->offset_size << 3 | (unit->address_size >> 1);
	uint32_t place = idmap_get(&file->abbrev_map, key);
	if (place != IDMAP_NONE)
		return file->abbrevs.items[place];
	struct dwarf_abbrevs *table = abbrevs_read(unit);
	idmap_set(&file->abbrev_map, key, (uint32_t)file->abbrevs.count);
	vec_push(&file->abbrevs, table);
	return table;
}

void dwarf_abbrevs_free(struct dwarf_abbrevs *abbrevs)
{
	if (!abbrevs)
		return;
	free(abbrevs->items);
	free(abbrevs->codes);
	free(abbrevs->steps);
	free(abbrevs->constants);
	free(abbrevs);
}

const struct dwarf_abbrev *dwarf_abbrev_search(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	size_t at = SEARCH_COUNT(abbrevs->count, i, abbrevs->codes[i] < code);
	return at < abbrevs->count && abbrevs->codes[at] == code ? &abbrevs->items[at] : NULL;
}
