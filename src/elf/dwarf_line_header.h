/* The head of a line table: how its program is coded, and its lists of directories and files. Format: DWARF 5, section 6.2.4,
 * and the same of the versions before. */
#pragma once
#include "elf/dwarf_line.h"

struct line_program {
	struct cursor c;              /* the instructions */
	uint8_t version, address_size, minimum_length, operations_max, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *operand_counts; /* [opcode - 1] */
	uint8_t advance[256];         /* by special opcode: operations … */
	int16_t step[256];            /* … and lines */
};

/* Fills lines' lists and *program. False: damaged. */
bool dwarf_line_header_read(struct dwarf_unit *unit, struct dwarf_lines *lines, struct line_program *program);
