#include "dwarf/die.h"

#include "dwarf/abbrev.h"
#include "dwarf/constants.h"
#include "dwarf/file.h"
#include "dwarf/form.h"
#include "dwarf/line.h"
#include "dwarf/split.h"
#include "dwarf/type_unit.h"

#define ORIGINS_MAX 32u /* a longer sequence of references is circular */

bool dwarf_die_at(struct dwarf_unit *unit, uint64_t at, struct dwarf_die *die)
{
	struct cursor c = unit_cursor(unit);
	if (at < unit->offset + unit->die_at || !cursor_seek(&c, at))
		return false;
	const struct dwarf_abbrev *abbrev = dwarf_abbrev_find(unit->abbrevs, take_uleb(&c));
	if (abbrev)
		*die = (struct dwarf_die){ .unit = unit, .abbrev = abbrev, .at = at };
	return abbrev != NULL;
}

uint32_t dwarf_unit_count(const struct dwarf *dwarf)
{
	return dwarf->main.unit_count;
}

bool dwarf_unit_refers(const struct dwarf_die *top)
{
	return top->unit->abbrevs->foreign;
}

uint64_t dwarf_unit_size(const struct dwarf *dwarf, uint32_t number)
{
	return dwarf->main.units[number].end - dwarf->main.units[number].offset;
}

bool dwarf_unit_top(struct dwarf *dwarf, uint32_t number, struct dwarf_die *top)
{
	struct dwarf_unit *unit = &dwarf->main.units[number];
	if (!dwarf_unit_prepare(unit) || !dwarf_unit_body(dwarf, unit))
		return false;
	return dwarf_die_at(unit->body, unit->body->offset + unit->body->die_at, top);
}

struct dwarf_die dwarf_die_top(const struct dwarf_die *die)
{
	struct dwarf_die top = *die;
	dwarf_die_at(die->unit, die->unit->offset + die->unit->die_at, &top);
	return top;
}

uint16_t dwarf_die_tag(const struct dwarf_die *die)
{
	return die->abbrev->tag;
}

/* The content of a block whose bytes, with its length, were read from `from`. */
static struct span block_content(uint16_t form, struct cursor c, size_t from)
{
	size_t end = c.at;
	c.at = from;
	switch (form) {
	case DW_FORM_block1:
		take(&c, 1);
		break;
	case DW_FORM_block2:
		take(&c, 2);
		break;
	case DW_FORM_block4:
		take(&c, 4);
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		skip_leb(&c);
		break;
	case DW_FORM_data16:
		break;
	default:
		c.at = end;
	}
	return c.at <= end ? (struct span){ c.data + c.at, end - c.at } : (struct span){ 0 };
}

static bool datum_take(struct dwarf_unit *unit, const struct dwarf_attribute *attribute, struct cursor *c, struct dwarf_datum *datum)
{
	size_t from = c->at;
	struct dwarf_value v;
	if (!dwarf_value_read(unit, attribute, c, &v))
		return false;
	*datum = (struct dwarf_datum){ .unit = unit, .form = v.form, .kind = v.kind, .number = v.number,
		.text = dwarf_value_string(unit, &v) };
	if (v.kind == VALUE_NONE)
		datum->bytes = block_content(v.form, *c, from);
	return true;
}

bool dwarf_die_get(const struct dwarf_die *die, uint16_t name, struct dwarf_datum *datum)
{
	struct dwarf_unit *unit = die->unit;
	struct cursor c = unit_cursor(unit);
	enum dwarf_quick quick = dwarf_quick_of(name);
	uint8_t at = quick < QUICK_COUNT ? die->abbrev->quick[quick].at : QUICK_ELSEWHERE;
	if (at == QUICK_ABSENT)
		return false;
	cursor_seek(&c, die->at);
	skip_leb(&c);
	if (at != QUICK_ELSEWHERE) {
		take(&c, at);
		return datum_take(unit, &(struct dwarf_attribute){ .form = die->abbrev->quick[quick].form }, &c, datum);
	}
	for (struct dwarf_spec spec = dwarf_spec_of(unit, die->abbrev); dwarf_spec_next(&spec);) {
		if (spec.attribute.name == name)
			return datum_take(unit, &spec.attribute, &c, datum);
		if (!dwarf_form_skip(unit, spec.attribute.form, &c))
			return false;
	}
	return false;
}

bool dwarf_datum_reference(const struct dwarf_datum *datum, struct dwarf_die *target)
{
	uint64_t at;
	struct dwarf_value value = { .form = datum->form, .kind = datum->kind, .number = datum->number };
	struct dwarf_unit *unit = value.kind == VALUE_SIGNATURE ? dwarf_type_unit(datum->unit->file, value.number, &at) :
		dwarf_value_target(datum->unit, &value, &at);
	return unit && dwarf_die_at(unit, at, target);
}

bool dwarf_die_reference(const struct dwarf_die *die, uint16_t name, struct dwarf_die *target)
{
	struct dwarf_datum datum;
	return dwarf_die_get(die, name, &datum) && dwarf_datum_reference(&datum, target);
}

bool dwarf_die_origin(const struct dwarf_die *die, struct dwarf_die *origin)
{
	struct dwarf_datum datum;
	if (!dwarf_die_get(die, DW_AT_abstract_origin, &datum))
		return false;
	*origin = (struct dwarf_die){ .unit = die->unit, .at = die->unit->offset + datum.number };
	return datum.kind == VALUE_UNIT_REFERENCE || dwarf_datum_reference(&datum, origin);
}

bool dwarf_die_get_any(const struct dwarf_die *die, uint16_t name, struct dwarf_datum *datum)
{
	struct dwarf_die at = *die;
	for (unsigned i = 0; i < ORIGINS_MAX; i++) {
		if (dwarf_die_get(&at, name, datum))
			return true;
		if (!dwarf_die_reference(&at, DW_AT_abstract_origin, &at) && !dwarf_die_reference(&at, DW_AT_specification, &at))
			break;
	}
	return false;
}

bool dwarf_die_has(const struct dwarf_die *die, uint16_t name)
{
	for (struct dwarf_spec spec = dwarf_spec_of(die->unit, die->abbrev); dwarf_spec_next(&spec);)
		if (spec.attribute.name == name)
			return true;
	return false;
}

bool dwarf_die_declares(const struct dwarf_die *die)
{
	return die->abbrev->declaration;
}

bool dwarf_die_has_code(const struct dwarf_die *die)
{
	return die->abbrev->code;
}

int64_t dwarf_datum_signed(const struct dwarf_datum *datum)
{
	switch (datum->form) {
	case DW_FORM_data1:
		return (int8_t)datum->number;
	case DW_FORM_data2:
		return (int16_t)datum->number;
	case DW_FORM_data4:
		return (int32_t)datum->number;
	default:
		return (int64_t)datum->number;
	}
}

bool dwarf_die_number(const struct dwarf_die *die, uint16_t name, uint64_t *number)
{
	struct dwarf_datum datum;
	if (!dwarf_die_get_any(die, name, &datum) || datum.kind != VALUE_NUMBER)
		return false;
	*number = datum.number;
	return true;
}

const char *dwarf_die_name(const struct dwarf_die *die)
{
	struct dwarf_datum datum;
	return dwarf_die_get_any(die, DW_AT_name, &datum) ? datum.text : NULL;
}

const char *dwarf_die_linkage_name(const struct dwarf_die *die)
{
	struct dwarf_datum datum;
	if (dwarf_die_get_any(die, DW_AT_linkage_name, &datum) || dwarf_die_get_any(die, DW_AT_MIPS_linkage_name, &datum))
		return datum.text;
	return NULL;
}

const char *dwarf_die_file(const struct dwarf_die *die, uint16_t name)
{
	struct dwarf_datum number;
	if (!dwarf_die_get_any(die, name, &number) || number.kind != VALUE_NUMBER)
		return NULL;
	struct dwarf_lines *lines = dwarf_unit_lines(number.unit);
	return lines ? dwarf_lines_path(lines, number.number) : NULL;
}

void dwarf_die_ranges(const struct dwarf_die *die, struct dwarf_ranges *ranges)
{
	struct dwarf *dwarf = die->unit->file->dwarf;
	struct dwarf_datum datum, end;
	uint64_t low, high;
	if (dwarf_die_get(die, DW_AT_ranges, &datum)) {
		dwarf_ranges_read(ranges, die->unit, datum.form, datum.number, 0);
		return;
	}
	struct dwarf_value value;
	if (!dwarf_die_get(die, DW_AT_low_pc, &datum) || !dwarf_die_get(die, DW_AT_high_pc, &end))
		return;
	value = (struct dwarf_value){ .form = datum.form, .kind = datum.kind, .number = datum.number };
	if (!dwarf_value_address(die->unit, &value, &low))
		return;
	value = (struct dwarf_value){ .form = end.form, .kind = end.kind, .number = end.number };
	if (end.kind == VALUE_NUMBER)
		high = low + end.number;
	else if (!dwarf_value_address(die->unit, &value, &high))
		return;
	dwarf_ranges_add(ranges, dwarf, low, high, 0);
}

bool dwarf_die_contains(const struct dwarf_die *die, uint64_t address)
{
	if (!die->abbrev->code && !dwarf_die_has(die, DW_AT_ranges) && !dwarf_die_has(die, DW_AT_low_pc))
		return false;
	struct dwarf_ranges ranges = { .limit = 1u << 16 };
	bool found = false;
	dwarf_die_ranges(die, &ranges);
	for (size_t i = 0; i < ranges.count && !found; i++)
		found = address >= ranges.items[i].low && address < ranges.items[i].high;
	vec_fini(&ranges);
	return found;
}

static bool die_address(const struct dwarf_die *die, uint16_t name, uint64_t *address)
{
	struct dwarf_datum datum;
	if (!dwarf_die_get(die, name, &datum))
		return false;
	struct dwarf_value value = { .form = datum.form, .kind = datum.kind, .number = datum.number };
	if (dwarf_value_address(die->unit, &value, address))
		return true;
	/* a constant is relative to the lowest address */
	uint64_t low;
	if (name == DW_AT_low_pc || datum.kind != VALUE_NUMBER || !die_address(die, DW_AT_low_pc, &low))
		return false;
	*address = low + datum.number;
	return true;
}

bool dwarf_die_entry(const struct dwarf_die *die, uint64_t *address)
{
	if (die_address(die, DW_AT_entry_pc, address) || die_address(die, DW_AT_low_pc, address))
		return true;
	struct dwarf_ranges ranges = { .limit = 1u << 16 };
	dwarf_die_ranges(die, &ranges);
	bool found = ranges.count != 0;
	if (found)
		*address = ranges.items[0].low;
	vec_fini(&ranges);
	return found;
}

/* Moves past the attributes; *sibling: the offset of the DIE after its children, 0 if it is not given. */
static bool attributes_skip(const struct dwarf_unit *unit, const struct dwarf_abbrev *abbrev, struct cursor *c, uint64_t *sibling)
{
	const struct dwarf_step *step = unit->abbrevs->steps + abbrev->steps, *end = step + abbrev->step_count;
	*sibling = 0;
	for (; step < end; step++) {
		take(c, step->skip);
		if (step->slot == SLOT_SIBLING) {
			struct dwarf_value v;
			struct dwarf_attribute attribute = { .form = step->form };
			if (!dwarf_value_read(unit, &attribute, c, &v))
				return false;
			*sibling = v.kind == VALUE_UNIT_REFERENCE ? unit->offset + v.number : 0;
		} else if (step->size >= 0) {
			take(c, (size_t)step->size);
		} else if (!dwarf_step_skip(unit, step, c)) {
			return false;
		}
	}
	take(c, abbrev->tail);
	return !c->short_read;
}

struct dwarf_walk dwarf_walk_of(const struct dwarf_die *top)
{
	struct dwarf_walk walk = { .unit = top->unit, .c = unit_cursor(top->unit), .children = top->abbrev->children };
	cursor_seek(&walk.c, top->at);
	skip_leb(&walk.c);
	if (!attributes_skip(top->unit, top->abbrev, &walk.c, &walk.sibling))
		walk.children = false;
	return walk;
}

/* Reads the next DIE, or the end of a list of children (die->abbrev NULL). */
static bool walk_read(struct dwarf_walk *walk, struct dwarf_die *die)
{
	*die = (struct dwarf_die){ .unit = walk->unit, .at = walk->c.at };
	uint64_t code = take_uleb(&walk->c);
	if (walk->c.short_read)
		return false;
	walk->children = false;
	if (!code)
		return true;
	die->abbrev = dwarf_abbrev_find(walk->unit->abbrevs, code);
	if (!die->abbrev || !attributes_skip(walk->unit, die->abbrev, &walk->c, &walk->sibling))
		return false;
	walk->children = die->abbrev->children;
	return true;
}

/* Moves past the children of the last DIE. */
static bool walk_leap(struct dwarf_walk *walk)
{
	unsigned depth = 0;
	struct dwarf_die die;
	do {
		if (walk->children && walk->sibling > walk->c.at && walk->sibling < walk->c.len)
			walk->c.at = walk->sibling;
		else
			depth += walk->children;
		if (!depth)
			break;
		if (!walk_read(walk, &die))
			return false;
		depth -= !die.abbrev;
	} while (depth || walk->children);
	walk->children = false;
	return true;
}

bool dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_die *die)
{
	if (!walk->depth && !walk->children)
		return false;
	if (walk->skip && walk->children && walk->depth && !walk_leap(walk))
		return false;
	walk->skip = false;
	walk->depth += walk->children;
	while (walk_read(walk, die)) {
		if (die->abbrev)
			return true;
		if (!--walk->depth)
			break;
	}
	walk->depth = 0;
	walk->children = false;
	return false;
}
