/* Columns of the type of the memory that an instruction accesses. As with source lines, rows are distinguished by address while samples are
 * added up, and then merged by text. */
#include "analysis/datatype/datatype.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/column/cells.h"
#include "analysis/entry/entry.h"
#include "analysis/entry/names.h"
#include "analysis/entry/texts.h"
#include "symbol/symbol.h"

enum { CACHE_LINE = 64 };

/* NULL: the report has no types. */
static const struct data_type *find_type(const struct profile *profile, const struct entry *entry, int64_t *offset)
{
	const struct place *place = entry_place(profile, entry);
	struct data_access access = { 0 };
	if (!profile->types)
		return NULL;
	if (place->map && place->module != MODULE_ID_NONE) {
		uint64_t at = place->level & PLACE_FRAME ? map_offset(place->map, place->ip) : place->ip;
		uint32_t symbol = symbols_lookup(profile->symbols, profile_module(profile, place->module), at);
		access = data_types_find(profile->types, place->module, symbol, at);
	}
	*offset = access.offset;
	return data_types_get(profile->types, access.type);
}

TEXT(type_text)
{
	int64_t offset;
	const struct data_type *type = find_type(profile, entry, &offset);
	str_puts(out, type ? type->name : "");
}

TEXT(typeoff_text)
{
	int64_t offset;
	const struct data_type *type = find_type(profile, entry, &offset);
	if (!type)
		return;
	str_printf(out, "%s +%#x (", type->name, (unsigned)offset);
	data_type_field(type, offset, out);
	str_putc(out, ')');
}

TEXT(typecln_text)
{
	int64_t offset;
	const struct data_type *type = find_type(profile, entry, &offset);
	if (type)
		str_printf(out, "%s: cache-line %d", type->name, (int)offset / CACHE_LINE);
}

/* The number that follows the type's name in a text; length: of the name. */
static long number_of(const char *text, size_t *length)
{
	const char *at = NULL;
	for (const char *next = strstr(text, " +"); next; next = strstr(next + 1, " +"))
		at = next;
	const char *line = strstr(text, ": cache-line ");
	*length = at ? (size_t)(at - text) : line ? (size_t)(line - text) : strlen(text);
	return at ? strtol(at + 2, NULL, 0) : line ? strtol(line + strlen(": cache-line "), NULL, 10) : 0;
}

COMPARE(type_sort)
{
	if (entry_key(a, column)[1] >> COLLAPSE_TEXT_SHIFT == entry_key(b, column)[1] >> COLLAPSE_TEXT_SHIFT)
		return 0; /* also before the rows have texts */
	const char *x = collapse_text(profile, entry_key(a, column)), *y = collapse_text(profile, entry_key(b, column));
	size_t length_x, length_y;
	long number_x = number_of(x, &length_x), number_y = number_of(y, &length_y);
	if (length_x == length_y && memcmp(x, y, length_x) == 0)
		return (int64_t)number_x - number_y;
	return strcmp(x, y);
}

COMPARE(type_compare)
{
	return profile->folded.collapsed && profile->options.columns->needs_collapse ? type_sort(profile, column, a, b)
		: source_compare(profile, column, a, b);
}
