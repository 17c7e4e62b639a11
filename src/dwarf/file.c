#include "dwarf/file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "dwarf/abbrev.h"
#include "dwarf/constants.h"
#include "dwarf/form.h"
#include "dwarf/relocate.h"

static const struct {
	const char *name, *split_name, *old_name; /* old_name: compressed by the format that preceded SHF_COMPRESSED */
	bool strings;
} section_names[SECTION_COUNT] = {
	[SECTION_INFO] = { ".debug_info", ".debug_info.dwo", ".zdebug_info" },
	[SECTION_ABBREV] = { ".debug_abbrev", ".debug_abbrev.dwo", ".zdebug_abbrev" },
	[SECTION_LINE] = { ".debug_line", NULL, ".zdebug_line" },
	[SECTION_STR] = { ".debug_str", ".debug_str.dwo", ".zdebug_str", .strings = true },
	[SECTION_LINE_STR] = { ".debug_line_str", NULL, ".zdebug_line_str", .strings = true },
	[SECTION_STR_OFFSETS] = { ".debug_str_offsets", ".debug_str_offsets.dwo", ".zdebug_str_offsets" },
	[SECTION_ADDR] = { ".debug_addr", NULL, ".zdebug_addr" },
	[SECTION_RANGES] = { ".debug_ranges", NULL, ".zdebug_ranges" },
	[SECTION_RNGLISTS] = { ".debug_rnglists", ".debug_rnglists.dwo", ".zdebug_rnglists" },
	[SECTION_ARANGES] = { ".debug_aranges", NULL, ".zdebug_aranges" },
	[SECTION_CU_INDEX] = { NULL, ".debug_cu_index", NULL },
	[SECTION_LOC] = { ".debug_loc", ".debug_loc.dwo", ".zdebug_loc" },
	[SECTION_LOCLISTS] = { ".debug_loclists", ".debug_loclists.dwo", ".zdebug_loclists" },
	[SECTION_TYPES] = { ".debug_types", ".debug_types.dwo", ".zdebug_types" },
	[SECTION_TU_INDEX] = { NULL, ".debug_tu_index", NULL },
};

/* Replaces the bytes of a section by a relocated copy if it has relocations. A copy that exceeds the memory limit counts as empty. */
static void section_relocate(struct dwarf_file *file, const struct elf *elf, const struct elf_section *section, enum dwarf_section id,
	struct span *bytes)
{
	size_t more = file->owned[id] ? 0 : bytes->len;
	if (!dwarf_memory_take(file->dwarf, more)) {
		*bytes = (struct span){ 0 };
		return;
	}
	uint8_t *relocated = dwarf_relocate(elf, section, *bytes);
	if (!relocated) {
		dwarf_memory_give(file->dwarf, more);
		return;
	}
	free(file->owned[id]);
	file->owned[id] = relocated;
	bytes->data = relocated;
}

static uint64_t section_size(const struct elf *elf, const struct elf_section *section)
{
	uint64_t claim = elf_section_claim(elf, section);
	return claim ? claim : elf_section_bytes(elf, section).len;
}

/* A .dwo may have a section for each type unit (COMDAT): all sections of the name become one. */
static void sections_join(struct dwarf_file *file, const struct elf *elf, const struct elf_section *first, enum dwarf_section id)
{
	uint64_t total = 0;
	for (const struct elf_section *s = first; s; s = elf_section_next(elf, s))
		if (__builtin_add_overflow(total, section_size(elf, s), &total))
			return;
	if (!total || !dwarf_memory_take(file->dwarf, total))
		return;
	uint8_t *joined = memory_alloc(total);
	size_t len = 0;
	for (const struct elf_section *s = first; s; s = elf_section_next(elf, s)) {
		struct span bytes;
		void *owned = NULL;
		if (elf_section_inflate(elf, s, total - len, &bytes, &owned, NULL) == 0 && bytes.len <= total - len) {
			memcpy(joined + len, bytes.data, bytes.len);
			len += bytes.len;
		}
		free(owned);
	}
	file->owned[id] = joined;
	file->section[id] = (struct span){ joined, len };
}

/* An unreadable section counts as absent; its users report that. */
static void section_load(struct dwarf_file *file, const struct elf *elf, enum dwarf_section id)
{
	const char *name = file->split ? section_names[id].split_name : section_names[id].name;
	const struct elf_section *section = name ? elf_section(elf, name) : NULL;
	if (!section && name && !file->split && section_names[id].old_name)
		section = elf_section(elf, section_names[id].old_name);
	if (!section)
		return;
	if (file->split && (id == SECTION_INFO || id == SECTION_TYPES) && elf_section_next(elf, section)) {
		sections_join(file, elf, section, id);
		return;
	}
	struct span bytes;
	uint64_t claim = elf_section_claim(elf, section);
	if (!dwarf_memory_take(file->dwarf, claim))
		return;
	if (elf_section_inflate(elf, section, claim, &bytes, &file->owned[id], NULL) < 0) {
		dwarf_memory_give(file->dwarf, claim);
		return;
	}
	if (elf->type == ET_REL && !file->split)
		section_relocate(file, elf, section, id, &bytes);
	if (section_names[id].strings) {
		const uint8_t *last = bytes.len ? memrchr(bytes.data, 0, bytes.len) : NULL;
		bytes.len = last ? (size_t)(last - bytes.data) + 1 : 0;
	}
	file->section[id] = bytes;
}

int dwarf_file_open(struct dwarf_file *file, struct dwarf *dwarf, const struct elf *elf, enum dwarf_role role, struct error *err)
{
	*file = (struct dwarf_file){ .dwarf = dwarf, .elf = elf, .swap = elf->swap, .address_size = elf->is64 ? 8 : 4 };
	file->split = role == DWARF_SPLIT || role == DWARF_PACKAGE;
	file->addresses = file->split ? &dwarf->main : file;
	pthread_mutex_init(&file->lock, NULL);
	for (unsigned i = 0; i < SECTION_LATE; i++)
		section_load(file, elf, (enum dwarf_section)i);
	if (!file->section[SECTION_INFO].len || !file->section[SECTION_ABBREV].len)
		return error_set(err, ERROR_FORMAT, "no debug information");
	if (role != DWARF_PACKAGE)
		dwarf_file_list_units(file);
	return 0;
}

void dwarf_file_section(struct dwarf_file *file, enum dwarf_section section)
{
	pthread_mutex_lock(&file->lock);
	if (file->elf && !(file->late_tried & 1u << section))
		section_load(file, file->elf, section);
	file->late_tried |= 1u << section;
	pthread_mutex_unlock(&file->lock);
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (!file->dwarf)
		return;
	for (size_t i = 0; i < file->abbrevs.count; i++)
		dwarf_abbrevs_free(file->abbrevs.items[i]);
	vec_fini(&file->abbrevs);
	idmap_fini(&file->abbrev_map);
	free(file->units);
	for (size_t i = 0; i < file->types.count; i++)
		free(file->types.items[i].unit);
	vec_fini(&file->types);
	for (unsigned i = 0; i < SECTION_COUNT; i++)
		free(file->owned[i]);
	pthread_mutex_destroy(&file->lock);
	*file = (struct dwarf_file){ 0 };
}

bool dwarf_unit_header(struct dwarf_file *file, enum dwarf_section section, struct cursor *c, struct dwarf_unit *unit)
{
	*unit = (struct dwarf_unit){ .file = file, .offset = c->at, .stmt_list = DWARF_NO_OFFSET,
		.section = (uint8_t)section, .type = section == SECTION_TYPES ? DW_UT_type : DW_UT_compile,
		.str_offsets_base = DWARF_NO_OFFSET, .rnglists_base = DWARF_NO_OFFSET,
		.loclists_base = DWARF_NO_OFFSET };
	uint64_t length = take_length(c, &unit->offset_size);
	if (c->short_read || length > cursor_left(c))
		return false;
	size_t body = c->at;
	unit->end = body + length;
	uint16_t version = take_u16(c);
	if (version >= 5) {
		unit->type = take_u8(c);
		unit->address_size = take_u8(c);
		unit->abbrev_offset = take_number(c, unit->offset_size);
		if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
			unit->split_id = take_u64(c);
	} else {
		unit->abbrev_offset = take_number(c, unit->offset_size);
		unit->address_size = take_u8(c);
	}
	bool type = unit->type == DW_UT_type || unit->type == DW_UT_split_type;
	if (type) {
		unit->split_id = take_u64(c);
		unit->type_at = take_number(c, unit->offset_size);
	}
	unit->die_at = (uint8_t)(c->at - unit->offset);
	bool sizes = unit->address_size == 2 || unit->address_size == 4 || unit->address_size == 8;
	if (version >= 2 && version <= 5 && sizes && !c->short_read && c->at < unit->end)
		unit->version = (uint8_t)version;
	c->short_read = false;
	c->at = unit->end;
	return true;
}

void dwarf_file_list_units(struct dwarf_file *file)
{
	VEC(struct dwarf_unit) units = { 0 };
	struct cursor c = section_cursor(file, SECTION_INFO);
	struct dwarf_unit unit;
	while (cursor_left(&c) && dwarf_unit_header(file, SECTION_INFO, &c, &unit)) {
		if (!unit.version || unit.type == DW_UT_type || unit.type == DW_UT_split_type)
			continue;
		if (!dwarf_memory_take(file->dwarf, sizeof unit)) {
			file->dwarf->units_refused++;
			break;
		}
		vec_push(&units, unit);
	}
	file->units = units.items;
	file->unit_count = (uint32_t)units.count;
	for (uint32_t i = 0; i < file->unit_count; i++)
		file->units[i].body = &file->units[i];
}

struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *file, uint64_t offset)
{
	size_t end = SEARCH_COUNT(file->unit_count, i, file->units[i].offset <= offset);
	return end && offset < file->units[end - 1].end ? &file->units[end - 1] : NULL;
}

/* The default base of a split unit's lists: after the header of the only table. */
static uint64_t default_list_base(const struct dwarf_unit *unit, unsigned header)
{
	return unit->version < 5 ? 0 : unit->offset_size == 8 ? header + 8 : header;
}

static bool language_is_plain(uint64_t language)
{
	static const uint16_t plain[] = {
		DW_LANG_C89, DW_LANG_C, DW_LANG_Cobol74, DW_LANG_Cobol85, DW_LANG_Pascal83, DW_LANG_C99, DW_LANG_PLI,
		DW_LANG_UPC, DW_LANG_C11, DW_LANG_C17, DW_LANG_Mips_Assembler, DW_LANG_Upc, DW_LANG_HP_Basic91, DW_LANG_HP_IMacro, DW_LANG_HP_Assembler,
	};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (plain[i] == language)
			return true;
	return false;
}

static uint64_t language_of(const struct dwarf_value *value)
{
	return value->kind == VALUE_NUMBER ? value->number : 0;
}

/* Reads the bases first, since other attributes may be indices relative to them. */
static bool top_bases(struct dwarf_unit *unit, const struct dwarf_abbrev *abbrev, struct cursor c)
{
	for (struct dwarf_spec spec = dwarf_spec_of(unit, abbrev); dwarf_spec_next(&spec);) {
		struct dwarf_value v;
		if (!dwarf_value_read(unit, &spec.attribute, &c, &v))
			return false;
		switch (spec.attribute.name) {
		case DW_AT_str_offsets_base:
			unit->str_offsets_base = v.number;
			break;
		case DW_AT_addr_base:
		case DW_AT_GNU_addr_base:
			unit->addr_base = v.number;
			break;
		case DW_AT_rnglists_base:
			unit->rnglists_base = v.number;
			break;
		case DW_AT_loclists_base:
			unit->loclists_base = v.number;
			break;
		case DW_AT_GNU_ranges_base:
			unit->ranges_base = v.number;
			break;
		}
	}
	if (unit->str_offsets_base == DWARF_NO_OFFSET)
		unit->str_offsets_base = default_list_base(unit, 8);
	if (unit->rnglists_base == DWARF_NO_OFFSET)
		unit->rnglists_base = default_list_base(unit, 12);
	if (unit->loclists_base == DWARF_NO_OFFSET)
		unit->loclists_base = default_list_base(unit, 12);
	return true;
}

static void top_attribute(struct dwarf_unit *unit, uint16_t name, const struct dwarf_value *v)
{
	switch (name) {
	case DW_AT_low_pc:
		dwarf_value_address(unit, v, &unit->low);
		break;
	case DW_AT_high_pc:
		unit->high_is_size = v->kind == VALUE_NUMBER;
		if (unit->high_is_size)
			unit->high = v->number;
		else
			dwarf_value_address(unit, v, &unit->high);
		break;
	case DW_AT_ranges:
		unit->ranges = v->number;
		unit->ranges_form = v->form;
		break;
	case DW_AT_stmt_list:
		if (!unit->type_at) /* the files in which types are declared are not needed */
			unit->stmt_list = v->number;
		break;
	case DW_AT_comp_dir:
		unit->directory = dwarf_value_string(unit, v);
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		unit->split_name = dwarf_value_string(unit, v);
		break;
	case DW_AT_GNU_dwo_id:
		unit->split_id = v->number;
		break;
	case DW_AT_language:
		unit->plain_names = language_is_plain(language_of(v));
		break;
	}
}

static bool unit_read_top(struct dwarf_unit *unit)
{
	unit->abbrevs = dwarf_abbrevs_get(unit);
	if (!unit->abbrevs)
		return false;
	struct cursor c = unit_cursor(unit);
	cursor_seek(&c, unit->offset + unit->die_at);
	const struct dwarf_abbrev *abbrev = dwarf_abbrev_find(unit->abbrevs, take_uleb(&c));
	if (!abbrev || c.short_read || !top_bases(unit, abbrev, c))
		return false;
	unit->tag = abbrev->tag;
	for (struct dwarf_spec spec = dwarf_spec_of(unit, abbrev); dwarf_spec_next(&spec);) {
		struct dwarf_value v;
		if (!dwarf_value_read(unit, &spec.attribute, &c, &v))
			return false;
		top_attribute(unit, spec.attribute.name, &v);
	}
	if (unit->high_is_size)
		unit->high += unit->low;
	return true;
}

bool dwarf_unit_prepare(struct dwarf_unit *unit)
{
	uint8_t state = atomic_load_explicit(&unit->state, memory_order_acquire);
	if (state == UNIT_UNREAD) {
		pthread_mutex_lock(&unit->file->lock);
		state = atomic_load_explicit(&unit->state, memory_order_acquire);
		if (state == UNIT_UNREAD) {
			state = unit_read_top(unit) ? UNIT_READY : UNIT_BAD;
			atomic_store_explicit(&unit->state, state, memory_order_release);
		}
		pthread_mutex_unlock(&unit->file->lock);
	}
	return state == UNIT_READY;
}
