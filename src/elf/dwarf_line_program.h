/* Runs line programs: first to tell where their sequences lie, then for the rows of those that are asked for. Most of a
 * program's rows never are. Format: DWARF 5, section 6.2.5, and the same of the versions before. */
#pragma once
#include "elf/dwarf_line_header.h"

struct line_sequences {
	struct dwarf_sequence *items;
	size_t count, capacity;
};

/* Adds the program's sequences, as they come. False: it ended early, by damage or the budget. */
bool line_program_scan(const struct line_program *program, struct dwarf *dwarf, struct line_sequences *sequences);
/* The rows of one of them, by address; those that say nothing new are left out. */
struct dwarf_rows *line_program_rows(const struct line_program *program, struct dwarf *dwarf,
	const struct dwarf_sequence *sequence);
