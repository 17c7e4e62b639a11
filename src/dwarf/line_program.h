/* Executes line programs: first to find the ranges of their sequences, then to get the rows of one sequence on demand. Most rows are
 * never needed. Format: DWARF 5, section 6.2.5, and earlier versions. */
#pragma once
#include "dwarf/line_header.h"

struct line_sequences {
	struct dwarf_sequence *items;
	size_t count, capacity;
};

/* Files that the program adds to those of its header (DW_LNE_define_file, up to DWARF 4). ELF images of JIT-compiled code have only
 * these. */
struct line_files {
	struct dwarf_line_file *items;
	size_t count, capacity;
};

/* Appends the program's sequences and files in program order. Returns false if it ends early, because of damage or the budget. */
bool line_program_scan(const struct line_program *program, struct dwarf *dwarf, struct line_sequences *sequences,
	struct line_files *files);
/* Returns the rows of one sequence by address, malloc'ed, without rows that equal the one before except for the address.
 * NULL: they do not fit in memory. */
struct dwarf_rows *line_program_rows(const struct line_program *program, struct dwarf *dwarf,
	const struct dwarf_sequence *sequence);
/* Appends all rows of the program in its order. Returns false if it ends early, because of damage or a limit. */
bool line_program_statements(const struct line_program *program, struct dwarf *dwarf, struct dwarf_statements *statements);
