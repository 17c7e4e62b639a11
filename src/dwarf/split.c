#include "dwarf/split.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dwarf/constants.h"
#include "dwarf/file.h"

#define INDEX_COLUMNS_MAX 16u

/* Returns the section that a column of the index describes, by its number in version 2 or 5; -1: not needed. */
static int column_section(uint32_t id, bool five)
{
	switch (id) {
	case DW_SECT_INFO:
		return SECTION_INFO;
	case DW_SECT_TYPES:
		return five ? -1 : SECTION_TYPES;
	case DW_SECT_ABBREV:
		return SECTION_ABBREV;
	case DW_SECT_LOC:
		return five ? SECTION_LOCLISTS : SECTION_LOC;
	case DW_SECT_STR_OFFSETS:
		return SECTION_STR_OFFSETS;
	case DW_SECT_MACRO_OR_RNGLISTS:
		return five ? SECTION_RNGLISTS : -1;
	default:
		return -1;
	}
}

struct package_index {
	struct cursor c;
	uint32_t version, columns, units, slots;
};

static bool package_index_open(const struct dwarf_file *package, enum dwarf_section section, struct package_index *index)
{
	index->c = section_cursor(package, section);
	/* version 5 is a u16 and two bytes of padding, version 2 a u32 */
	struct cursor half = index->c;
	uint16_t five = take_u16(&half);
	index->version = take_u32(&index->c);
	if (five == 5)
		index->version = 5;
	index->columns = take_u32(&index->c);
	index->units = take_u32(&index->c);
	index->slots = take_u32(&index->c);
	bool power = index->slots && !(index->slots & (index->slots - 1));
	uint64_t need = (uint64_t)index->slots * 12 + (uint64_t)index->columns * 4 + (uint64_t)index->units * index->columns * 8;
	return !index->c.short_read && (index->version == 2 || index->version == 5) && power && index->columns <= INDEX_COLUMNS_MAX &&
		need <= cursor_left(&index->c);
}

static uint32_t package_index_number(const struct package_index *index, uint64_t at)
{
	struct cursor c = index->c;
	return take(&c, at) ? take_u32(&c) : 0;
}

/* Returns the row of the unit, counted from 1; 0: the package does not contain it. */
static uint32_t package_index_row(const struct package_index *index, uint64_t id)
{
	uint64_t mask = index->slots - 1, slot = id & mask, step = (id >> 32 & mask) | 1;
	for (uint32_t tries = 0; tries < index->slots; tries++, slot = (slot + step) & mask) {
		struct cursor c = index->c;
		take(&c, slot * 8);
		uint64_t found = take_u64(&c);
		uint32_t row = package_index_number(index, (uint64_t)index->slots * 8 + slot * 4);
		if (found == id && row)
			return row <= index->units ? row : 0;
		if (!row)
			return 0;
	}
	return 0;
}

/* Reduces the sections of file, a copy of the package, to the part of one unit of the index. */
static bool package_cut(struct dwarf_file *file, enum dwarf_section section, uint64_t id)
{
	struct package_index index;
	if (!package_index_open(file, section, &index))
		return false;
	uint32_t row = package_index_row(&index, id);
	if (!row)
		return false;
	uint64_t names = (uint64_t)index.slots * 12, offsets = names + (uint64_t)index.columns * 4;
	uint64_t sizes = offsets + (uint64_t)index.units * index.columns * 4;
	for (uint32_t column = 0; column < index.columns; column++) {
		int cut = column_section(package_index_number(&index, names + (uint64_t)column * 4), index.version == 5);
		uint64_t place = ((uint64_t)(row - 1) * index.columns + column) * 4;
		uint64_t offset = package_index_number(&index, offsets + place), size = package_index_number(&index, sizes + place);
		if (cut < 0)
			continue;
		struct span *span = &file->section[cut];
		if (offset > span->len || size > span->len - offset)
			return false;
		*span = (struct span){ span->data + offset, size };
	}
	return true;
}

static struct dwarf_file *file_from_package(struct dwarf *dwarf, enum dwarf_section index, uint64_t id)
{
	for (int late = SECTION_LATE; late < SECTION_COUNT; late++)
		dwarf_file_section(&dwarf->package, (enum dwarf_section)late);
	struct dwarf_file *file = memory_zero(1, sizeof *file);
	*file = (struct dwarf_file){ .dwarf = dwarf, .swap = dwarf->package.swap, .split = true, .addresses = &dwarf->main,
		.address_size = dwarf->package.address_size };
	memcpy(file->section, dwarf->package.section, sizeof file->section);
	if (!package_cut(file, index, id)) {
		free(file);
		return NULL;
	}
	pthread_mutex_init(&file->lock, NULL);
	dwarf_file_list_units(file);
	return file;
}

static struct dwarf_file *file_from_parts(struct dwarf *dwarf, const struct dwarf_unit *skeleton)
{
	const struct dwarf_parts *parts = &dwarf->parts;
	const char *directory = skeleton->directory ? skeleton->directory : "";
	const struct elf *elf = parts->split ? parts->split(parts->context, directory, skeleton->split_name, skeleton->split_id) : NULL;
	if (!elf)
		return NULL;
	struct dwarf_file *file = memory_zero(1, sizeof *file);
	if (dwarf_file_open(file, dwarf, elf, DWARF_SPLIT, NULL) == 0)
		return file;
	dwarf_file_close(file);
	free(file);
	return NULL;
}

struct dwarf_unit *dwarf_split_open(struct dwarf_unit *skeleton)
{
	struct dwarf *dwarf = skeleton->file->dwarf;
	struct dwarf_file *file = dwarf->has_package ? file_from_package(dwarf, SECTION_CU_INDEX, skeleton->split_id) : NULL;
	if (!file)
		file = file_from_parts(dwarf, skeleton);
	if (!file)
		return NULL;
	pthread_mutex_lock(&dwarf->lock);
	file->next = dwarf->split_files;
	dwarf->split_files = file;
	pthread_mutex_unlock(&dwarf->lock);
	struct dwarf_unit *found = NULL;
	for (uint32_t i = 0; i < file->unit_count; i++) {
		struct dwarf_unit *unit = &file->units[i];
		if (!dwarf_unit_prepare(unit))
			continue;
		unit->addr_base = skeleton->addr_base;
		unit->ranges_base = skeleton->ranges_base;
		unit->low = skeleton->low;
		if (!found && unit->split_id == skeleton->split_id)
			found = unit;
	}
	return found;
}

struct dwarf_file *dwarf_split_type(struct dwarf *dwarf, uint64_t signature)
{
	pthread_mutex_lock(&dwarf->lock);
	uint32_t number = idmap_get(&dwarf->type_map, signature);
	if (number == IDMAP_NONE) {
		number = (uint32_t)dwarf->type_files.count;
		idmap_set(&dwarf->type_map, signature, number);
		vec_push(&dwarf->type_files, file_from_package(dwarf, SECTION_TU_INDEX, signature));
	}
	struct dwarf_file *file = dwarf->type_files.items[number];
	pthread_mutex_unlock(&dwarf->lock);
	return file;
}

void dwarf_split_close(struct dwarf *dwarf)
{
	for (size_t i = 0; i < dwarf->type_files.count; i++) {
		if (dwarf->type_files.items[i])
			dwarf_file_close(dwarf->type_files.items[i]);
		free(dwarf->type_files.items[i]);
	}
	vec_fini(&dwarf->type_files);
	idmap_fini(&dwarf->type_map);
	while (dwarf->split_files) {
		struct dwarf_file *file = dwarf->split_files;
		dwarf->split_files = file->next;
		dwarf_file_close(file);
		free(file);
	}
}
