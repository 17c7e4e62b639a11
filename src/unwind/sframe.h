/* .sframe: the simple frame format of binutils, versions 1 and 2. Format: "The SFrame format" (binutils 2.40 and 2.41 manuals). Converts
 * its entries to rules. Finds no file. */
#pragma once
#include "unwind/machine.h"
#include "unwind/rules.h"

struct sframe {
	struct span bytes;
	uint64_t address;        /* of the section */
	uint8_t version, flags;
	int8_t fixed_fp, fixed_ra;
	enum unwind_arch arch;
	uint32_t count;          /* number of functions */
	struct span functions, rows;
	uint32_t repeated;       /* rows of repeated blocks so far, limited */
};

struct sframe_function {
	uint64_t start, size;
	uint32_t first_row, row_count; /* first: offset in sframe.rows */
	uint8_t info, repeats;   /* repeats: size in bytes of a repeated block (PLT); 0: none */
};

/* < 0: unsupported version, or damaged. */
int sframe_open(struct sframe *s, struct span bytes, uint64_t address);
bool sframe_function(const struct sframe *s, uint32_t index, struct sframe_function *function);
/* Adds the rows of a function for [from, to). Returns false if it is damaged; earlier rows remain. */
bool sframe_rows(struct sframe *s, const struct sframe_function *function, struct rule_builder *b, uint64_t from, uint64_t to);
