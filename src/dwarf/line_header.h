/* Headers of line tables: the encoding of the program, and the lists of directories and files. Format: DWARF 5, section 6.2.4, and
 * earlier versions. */
#pragma once
#include "dwarf/line.h"

struct line_program {
	struct cursor c;              /* the instructions */
	uint8_t version, address_size, minimum_length, operations_max, line_range, opcode_base;
	int8_t line_base;
	bool statement;               /* rows begin statements by default */
	const uint8_t *operand_counts; /* by opcode - 1 */
	uint8_t advance[256];         /* by special opcode: operations */
	int16_t step[256];            /* by special opcode: lines */
};

/* Fills the lists of `lines` and *program; false: the header is damaged. Damaged lists are valid up to the damage and set
 * lines->damaged. */
bool dwarf_line_header_read(struct dwarf_unit *unit, struct dwarf_lines *lines, struct line_program *program);
