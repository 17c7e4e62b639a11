/* Line tables, versions 2 to 5: rows by address, and the paths of files. is_stmt is ignored, as addr2line does. Format: DWARF 5, section
 * 6.2. */
#pragma once
#include "dwarf/ranges.h"

struct dwarf_row {
	uint32_t offset;              /* address - base of its sequence */
	uint32_t line;
	uint32_t file : 20, column : 12; /* 0 if the value is too large */
	uint32_t discriminator;
};

struct dwarf_sequence {
	uint64_t low, high;
	uint64_t base;                /* the address that the offsets of its rows are relative to */
	size_t start;                 /* offset of its instructions */
};

struct dwarf_rows {
	uint32_t count;
	struct dwarf_row items[];
};

/* A row with its statement flags, for statement.h. */
struct dwarf_statement {
	uint64_t address;
	uint32_t line, file;
	bool statement, prologue_end, end; /* is_stmt, prologue_end, end_sequence */
};

struct dwarf_statements {
	struct dwarf_statement *items;
	size_t count, capacity;
};

struct line_program;

struct dwarf_line_file {
	const char *name;
	uint64_t directory;
};

struct dwarf_lines {
	struct dwarf_sequence *sequences; /* by address, without overlaps */
	_Atomic(const struct dwarf_rows *) *rows; /* by sequence; made on demand */
	struct line_program *program;
	struct dwarf_line_file *files;
	const char **directories;
	_Atomic(char *) *paths;       /* by file; made on demand */
	const char *compiled_in;      /* DW_AT_comp_dir */
	uint32_t sequence_count, file_count, directory_count;
	bool from_zero;               /* version 5: files and directories are numbered from 0 */
	bool damaged;
	struct dwarf *dwarf;
};

/* Returns the line table of the unit; NULL: absent, damaged or beyond the memory limit. */
struct dwarf_lines *dwarf_lines_read(struct dwarf_unit *unit);
void dwarf_lines_free(struct dwarf_lines *lines);
/* Returns the row of address, or NULL. Makes the rows of its sequence at the first call; safe from several threads. */
const struct dwarf_row *dwarf_lines_find(struct dwarf_lines *lines, uint64_t address);
/* Returns the full path of a file by its number; NULL: no such file. Valid as long as lines. */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file);
/* Adds the ranges of the table's sequences, for a unit whose ranges are not described elsewhere. */
void dwarf_lines_ranges(struct dwarf_unit *unit, uint32_t value, struct dwarf_ranges *ranges);
