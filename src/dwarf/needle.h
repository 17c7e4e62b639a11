/* Which units can contain a DIE with a certain name: a test of their bytes, much faster than reading their DIEs. A unit that passes may be
 * without the name; a unit that fails is without it. */
#pragma once
#include "dwarf/die.h"

#define DWARF_NEEDLE_PLACES 8u

struct dwarf_needle {
	struct dwarf *dwarf;
	const char *name;             /* borrowed */
	size_t length;                /* with its NUL */
	uint32_t places[DWARF_NEEDLE_PLACES]; /* offsets of the name in .debug_str */
	uint32_t place_count;
	bool any;                     /* all units pass */
	bool foreign;                 /* some unit may refer to names of others */
};

/* Prepares the test for an exact DW_AT_name or linkage name. */
struct dwarf_needle dwarf_needle_of(struct dwarf *dwarf, const char *name);
bool dwarf_needle_in(const struct dwarf_needle *needle, uint32_t unit);
