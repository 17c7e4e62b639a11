#include "dwarf/index.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dwarf/abbrev.h"
#include "dwarf/constants.h"
#include "dwarf/file.h"
#include "dwarf/function.h"
#include "dwarf/line.h"

/* Valid units have fewer ranges than bytes; damaged units could all refer to one long list. */
#define RANGES_LEAST ((size_t)1 << 20)

/* Reads one set of .debug_aranges; false: the rest of the section is unusable. */
static bool aranges_set_read(struct dwarf *dwarf, struct cursor *c, struct dwarf_ranges *ranges, bool *covered)
{
	size_t start = c->at;
	uint8_t offset_size;
	uint64_t length = take_length(c, &offset_size);
	if (c->short_read || length > cursor_left(c))
		return false;
	size_t end = c->at + length;
	uint16_t version = take_u16(c);
	uint64_t offset = take_number(c, offset_size);
	uint8_t address_size = take_u8(c), segment_size = take_u8(c);
	struct dwarf_unit *unit = dwarf_file_unit(&dwarf->main, offset);
	bool known = version == 2 && !segment_size && (address_size == 2 || address_size == 4 || address_size == 8) && unit &&
		unit->offset == offset;
	size_t pair = 2u * address_size, past = c->at - start;
	if (known)
		take(c, (pair - past % pair) % pair);
	while (known && !c->short_read && c->at < end && end - c->at >= pair) {
		uint64_t low = take_number(c, address_size), size = take_number(c, address_size);
		uint32_t number = (uint32_t)(unit - dwarf->main.units);
		if (!low && !size)
			break;
		covered[number] = true;
		dwarf_ranges_add(ranges, dwarf, low, low + size, number);
	}
	c->at = end;
	return !c->short_read;
}

static void unit_ranges_collect(struct dwarf *dwarf, uint32_t number, struct dwarf_ranges *ranges)
{
	struct dwarf_unit *unit = &dwarf->main.units[number];
	if (!dwarf_unit_prepare(unit)) {
		dwarf->units_damaged++;
		return;
	}
	if (unit->tag == DW_TAG_partial_unit)
		return;
	size_t before = ranges->count;
	if (unit->ranges_form)
		dwarf_ranges_read(ranges, unit, unit->ranges_form, unit->ranges, number);
	else if (unit->high)
		dwarf_ranges_add(ranges, dwarf, unit->low, unit->high, number);
	if (unit->ranges_form || unit->high || unit->split_name)
		return;
	dwarf_functions_ranges(unit, number, ranges);
	if (ranges->count == before)
		dwarf_lines_ranges(unit, number, ranges);
}

void dwarf_index_build(struct dwarf *dwarf)
{
	uint32_t count = dwarf->main.unit_count;
	bool *covered = memory_zero(count + 1, sizeof *covered);
	struct dwarf_ranges ranges = { .limit = RANGES_LEAST + dwarf->main.section[SECTION_INFO].len };
	struct dwarf_segments segments;
	struct cursor c = section_cursor(&dwarf->main, SECTION_ARANGES);
	while (cursor_left(&c) && aranges_set_read(dwarf, &c, &ranges, covered))
		;
	for (uint32_t i = 0; i < count; i++)
		if (!covered[i])
			unit_ranges_collect(dwarf, i, &ranges);
	free(covered);
	if (!dwarf_segments_make(&segments, dwarf, &ranges, false))
		dwarf->units_refused += count;
	dwarf->segment_starts = segments.starts;
	dwarf->segment_units = segments.values;
	dwarf->segment_count = segments.count;
	vec_fini(&ranges);
}
