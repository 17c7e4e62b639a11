#include "dwarf/needle.h"

#include <string.h>

#include "dwarf/abbrev.h"
#include "dwarf/constants.h"
#include "dwarf/file.h"

/* DIEs may have their names in other units only if some abbreviation has a reference by offset in the section. */
static bool refers_to_units(const struct dwarf_file *file)
{
	static const uint8_t origin[] = { DW_AT_abstract_origin, DW_FORM_ref_addr }, specification[] = { DW_AT_specification, DW_FORM_ref_addr };
	struct span s = file->section[SECTION_ABBREV];
	return memmem(s.data, s.len, origin, sizeof origin) || memmem(s.data, s.len, specification, sizeof specification);
}

/* Whether some unit may be in another file. */
static bool has_skeletons(const struct dwarf_file *file)
{
	static const uint8_t old[] = { 0xb0, 0x42 }; /* DW_AT_GNU_dwo_name as ULEB128 */
	struct span s = file->section[SECTION_ABBREV];
	for (uint32_t i = 0; i < file->unit_count; i++)
		if (file->units[i].type == DW_UT_skeleton)
			return true;
	return memmem(s.data, s.len, old, sizeof old);
}

struct dwarf_needle dwarf_needle_of(struct dwarf *dwarf, const char *name)
{
	struct dwarf_needle needle = { .dwarf = dwarf, .name = name, .length = strlen(name) + 1 };
	const struct dwarf_file *file = &dwarf->main;
	struct span strings = file->section[SECTION_STR];
	needle.foreign = refers_to_units(file) || has_skeletons(file);
	/* names by index, or outside of the file */
	needle.any = needle.length < 2 || file->section[SECTION_STR_OFFSETS].len || dwarf->has_alternate || dwarf->has_package;
	for (size_t at = 0; !needle.any && at < strings.len;) {
		const uint8_t *found = memmem(strings.data + at, strings.len - at, name, needle.length);
		if (!found)
			break;
		at = (size_t)(found - strings.data);
		if (needle.place_count == DWARF_NEEDLE_PLACES || at > UINT32_MAX)
			needle.any = true;
		else
			needle.places[needle.place_count++] = (uint32_t)at;
		at++;
	}
	return needle;
}

/* Searches a number of four bytes by the byte that is probably rarest: the second is neither a small number nor a high part. */
static bool contains_number(const uint8_t *data, size_t len, uint32_t number, bool swap)
{
	uint8_t want[4];
	number = swap ? __builtin_bswap32(number) : number;
	memcpy(want, &number, sizeof want);
	size_t key = swap ? 2 : 1;
	for (size_t at = key; at + 4 - key <= len;) {
		const uint8_t *found = memchr(data + at, want[key], len - at - (3 - key));
		if (!found)
			return false;
		if (!memcmp(found - key, want, sizeof want))
			return true;
		at = (size_t)(found - data) + 1;
	}
	return false;
}

static bool unit_refers_to_units(struct dwarf_unit *unit)
{
	return !dwarf_unit_prepare(unit) || unit->abbrevs->foreign || unit->split_name;
}

bool dwarf_needle_in(const struct dwarf_needle *needle, uint32_t number)
{
	const struct dwarf_file *file = &needle->dwarf->main;
	struct dwarf_unit *unit = &file->units[number];
	if (needle->any || unit->offset_size != 4)
		return true;
	const uint8_t *data = file->section[SECTION_INFO].data + unit->offset;
	size_t len = unit->end - unit->offset;
	for (uint32_t i = 0; i < needle->place_count; i++)
		if (contains_number(data, len, needle->places[i], file->swap))
			return true;
	/* producers store names in the DIE if they are short, or if no other file will have them */
	if (memmem(data, len, needle->name, needle->length))
		return true;
	return needle->foreign && unit_refers_to_units(unit);
}
