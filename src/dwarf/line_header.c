#include "dwarf/line_header.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dwarf/constants.h"
#include "dwarf/form.h"

#define LINE_FORMATS_MAX 255u

struct lists {
	VEC(const char *) directories;
	VEC(struct dwarf_line_file) files;
};

static const char *line_header_take_string(struct cursor *c)
{
	const uint8_t *text = c->data + c->at, *end = memchr(text, 0, cursor_left(c));
	if (!end) {
		c->short_read = true;
		return "";
	}
	c->at += (size_t)(end - text) + 1;
	return (const char *)text;
}

/* Versions 2 to 4: directories up to an empty string, then files up to one with an empty name. */
static bool lists_read_old(struct lists *lists, struct cursor *c, struct dwarf *dwarf)
{
	const char *text;
	while (*(text = line_header_take_string(c))) {
		if (!dwarf_work(dwarf, 1))
			return false;
		vec_push(&lists->directories, text);
	}
	while (!c->short_read && *(text = line_header_take_string(c))) {
		struct dwarf_line_file file = { .name = text, .directory = take_uleb(c) };
		skip_leb(c);
		skip_leb(c);
		if (!dwarf_work(dwarf, 1))
			return false;
		vec_push(&lists->files, file);
	}
	return !c->short_read;
}

/* Version 5: a description of the columns, a count, and the rows. */
static bool lists_read_v5(const struct dwarf_unit *shape, struct lists *lists, bool files, struct cursor *c)
{
	struct dwarf_attribute columns[LINE_FORMATS_MAX];
	unsigned column_count = take_u8(c);
	for (unsigned i = 0; i < column_count; i++) {
		uint64_t content = take_uleb(c), form = take_uleb(c);
		columns[i] = (struct dwarf_attribute){ .name = content <= UINT16_MAX ? (uint16_t)content : 0,
			.form = form <= UINT16_MAX ? (uint16_t)form : 0 };
	}
	uint64_t count = take_uleb(c);
	/* a row has at least one byte: a larger count is damage */
	if (c->short_read || count > cursor_left(c) || (count && !column_count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		struct dwarf_line_file file = { 0 };
		size_t before = c->at;
		for (unsigned k = 0; k < column_count; k++) {
			struct dwarf_value v;
			if (!dwarf_value_read(shape, &columns[k], c, &v))
				return false;
			if (columns[k].name == DW_LNCT_path)
				file.name = dwarf_value_string(shape, &v);
			else if (columns[k].name == DW_LNCT_directory_index)
				file.directory = v.number;
		}
		if (c->at == before || !dwarf_work(shape->file->dwarf, 1))
			return false;
		if (files)
			vec_push(&lists->files, file);
		else
			vec_push(&lists->directories, file.name);
	}
	return true;
}

static void program_encoding_read(struct line_program *p, struct cursor *c)
{
	p->minimum_length = take_u8(c);
	p->operations_max = p->version >= 4 ? take_u8(c) : 1;
	if (!p->operations_max)
		p->operations_max = 1;
	p->statement = take_u8(c);
	p->line_base = (int8_t)take_u8(c);
	p->line_range = take_u8(c);
	p->opcode_base = take_u8(c);
	p->operand_counts = take(c, p->opcode_base ? p->opcode_base - 1u : 0);
}

/* Precomputes the divisions of the special opcodes, which rows would otherwise repeat. */
static void specials_prepare(struct line_program *p)
{
	for (unsigned opcode = p->opcode_base; opcode < 256; opcode++) {
		unsigned adjusted = opcode - p->opcode_base;
		p->advance[opcode] = (uint8_t)(adjusted / p->line_range);
		p->step[opcode] = (int16_t)(p->line_base + (int)(adjusted % p->line_range));
	}
}

/* Reads the header up to its lists, where the cursor then is; false: the table is unusable. */
static bool header_start(struct dwarf_unit *shape, struct cursor *c, struct line_program *p)
{
	uint64_t length = take_length(c, &shape->offset_size);
	/* a table that exceeds the section is read up to the section's end */
	if (length < cursor_left(c))
		c->len = c->at + length;
	p->version = (uint8_t)take_u16(c);
	shape->version = p->version;
	p->address_size = shape->address_size;
	if (p->version >= 5) {
		p->address_size = shape->address_size = take_u8(c);
		take_u8(c);
	}
	uint64_t header = take_number(c, shape->offset_size);
	if (c->short_read || p->version < 2 || p->version > 5 || header > cursor_left(c))
		return false;
	p->c = *c;
	p->c.at += header;
	program_encoding_read(p, c);
	if (c->short_read || !p->line_range || !p->opcode_base)
		return false;
	specials_prepare(p);
	return true;
}

bool dwarf_line_header_read(struct dwarf_unit *unit, struct dwarf_lines *lines, struct line_program *program)
{
	struct dwarf_unit shape = { .file = unit->file, .address_size = unit->address_size, .str_offsets_base = unit->str_offsets_base };
	struct cursor c = section_cursor(unit->file, SECTION_LINE);
	*program = (struct line_program){ 0 };
	if (!cursor_seek(&c, unit->stmt_list) || !header_start(&shape, &c, program))
		return false;
	struct lists lists = { 0 };
	bool whole = program->version >= 5 ? lists_read_v5(&shape, &lists, false, &c) && lists_read_v5(&shape, &lists, true, &c) :
		lists_read_old(&lists, &c, unit->file->dwarf);
	lines->damaged = !whole;
	lines->from_zero = program->version >= 5;
	lines->directories = lists.directories.items;
	lines->directory_count = (uint32_t)lists.directories.count;
	lines->files = lists.files.items;
	lines->file_count = (uint32_t)lists.files.count;
	return true;
}
