/* Line tables, versions 2 to 5: rows by address, and the paths of their files. Which row is a statement is not asked, as in
 * addr2line. */
#pragma once
#include "elf/dwarf_ranges.h"

struct dwarf_row {
	uint32_t offset;              /* from the base of its sequence */
	uint32_t line;
	uint32_t file : 20, column : 12; /* 0 where they do not fit */
	uint32_t discriminator;
};

struct dwarf_sequence {
	uint64_t low, high;
	uint64_t base;                /* that its rows count from */
	size_t start;                 /* of its instructions */
};

struct dwarf_rows {
	uint32_t count;
	struct dwarf_row items[];
};

struct line_program;

struct dwarf_line_file {
	const char *name;
	uint64_t directory;
};

struct dwarf_lines {
	struct dwarf_sequence *sequences; /* by address, not overlapping */
	_Atomic(const struct dwarf_rows *) *rows; /* by sequence, made when asked for */
	struct line_program *program;
	struct dwarf_line_file *files;
	const char **directories;
	_Atomic(char *) *paths;       /* by file, made when asked for */
	const char *compiled_in;      /* DW_AT_comp_dir */
	uint32_t sequence_count, file_count, directory_count;
	bool from_zero;               /* version 5: files and directories count from 0 */
	bool damaged;
	struct dwarf *dwarf;
};

/* The table of that unit; NULL: it has none, or the memory limit refuses it. */
struct dwarf_lines *dwarf_lines_read(struct dwarf_unit *unit);
void dwarf_lines_free(struct dwarf_lines *lines);
/* NULL: no row holds address. Makes the rows of its sequence, if they were not yet; from any thread. */
const struct dwarf_row *dwarf_lines_find(struct dwarf_lines *lines, uint64_t address);
/* The whole path of a file by its number; NULL: no such file. Lives as long as lines. */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file);
/* The runs of the table's sequences, of a unit that says nowhere else where its code lies. */
void dwarf_lines_ranges(struct dwarf_unit *unit, uint32_t value, struct dwarf_ranges *ranges);
