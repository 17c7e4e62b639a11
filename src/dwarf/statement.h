/* All rows of a unit's line table with their statement flags, by address: the places where a debugger or a probe can stop. */
#pragma once
#include "dwarf/die.h"
#include "dwarf/line.h"

/* Returns the rows of the line table of the unit that contains die, sorted by address, those with one address in the order of the table.
 * False: it is absent, damaged or too large. The caller calls vec_fini. */
bool dwarf_statements_read(const struct dwarf_die *die, struct dwarf_statements *statements);
/* Returns the path of a row's file; NULL: unknown. */
const char *dwarf_statement_file(const struct dwarf_die *die, const struct dwarf_statement *statement);
/* Calls each with the number and the path of every file of the table until it returns true, and returns whether it did. */
bool dwarf_statement_files(const struct dwarf_die *die, bool (*each)(void *context, uint32_t number, const char *path), void *context);
