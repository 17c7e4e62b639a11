#include "dwarf/type_unit.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/search.h"
#include "dwarf/constants.h"
#include "dwarf/file.h"
#include "dwarf/split.h"

static int entry_compare(const void *a, const void *b)
{
	const struct dwarf_type_entry *x = a, *y = b;
	if (x->signature != y->signature)
		return x->signature < y->signature ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void list_section(struct dwarf_file *file, enum dwarf_section section)
{
	struct cursor c = section_cursor(file, section);
	struct dwarf_unit unit;
	while (cursor_left(&c) && dwarf_unit_header(file, section, &c, &unit)) {
		if (!unit.version || (unit.type != DW_UT_type && unit.type != DW_UT_split_type))
			continue;
		if (!dwarf_memory_take(file->dwarf, sizeof *file->types.items))
			break;
		vec_push(&file->types, ((struct dwarf_type_entry){ .signature = unit.split_id, .at = unit.offset, .section = (uint8_t)section }));
	}
}

static void list_types(struct dwarf_file *file)
{
	if (file->types_listed)
		return;
	file->types_listed = true;
	list_section(file, SECTION_INFO);
	list_section(file, SECTION_TYPES);
	if (file->types.count)
		qsort(file->types.items, file->types.count, sizeof *file->types.items, entry_compare);
}

static struct dwarf_unit *entry_unit(struct dwarf_file *file, struct dwarf_type_entry *entry)
{
	struct dwarf_unit unit;
	struct cursor c = section_cursor(file, entry->section);
	if (entry->unit || !cursor_seek(&c, entry->at) || !dwarf_unit_header(file, entry->section, &c, &unit) ||
	    !dwarf_memory_take(file->dwarf, sizeof unit))
		return entry->unit;
	entry->unit = memory_alloc(sizeof unit);
	*entry->unit = unit;
	entry->unit->body = entry->unit;
	return entry->unit;
}

static struct dwarf_unit *unit_in_file(struct dwarf_file *file, uint64_t signature)
{
	struct dwarf_unit *unit = NULL;
	dwarf_file_section(file, SECTION_TYPES);
	pthread_mutex_lock(&file->lock);
	list_types(file);
	size_t at = SEARCH_COUNT(file->types.count, i, file->types.items[i].signature < signature);
	if (at < file->types.count && file->types.items[at].signature == signature)
		unit = entry_unit(file, &file->types.items[at]);
	pthread_mutex_unlock(&file->lock);
	return unit;
}

struct dwarf_unit *dwarf_type_unit(struct dwarf_file *file, uint64_t signature, uint64_t *offset)
{
	struct dwarf_unit *unit = unit_in_file(file, signature);
	if (!unit && file->split && file->dwarf->has_package) {
		struct dwarf_file *part = dwarf_split_type(file->dwarf, signature);
		unit = part ? unit_in_file(part, signature) : NULL;
	}
	if (!unit || !dwarf_unit_prepare(unit))
		return NULL;
	*offset = unit->offset + unit->type_at;
	return unit;
}
