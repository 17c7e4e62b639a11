/* Split DWARF: the unit in a .dwo or .dwp file that a skeleton unit refers to. Format: DWARF 5, section 7.3, and the GNU extension of
 * DWARF 4. */
#pragma once
#include "dwarf/internal.h"

/* Returns the unit that describes the skeleton's functions, after dwarf_unit_prepare; NULL: the file is absent or does not match. The
 * caller holds the skeleton's lock. */
struct dwarf_unit *dwarf_split_open(struct dwarf_unit *skeleton);
void dwarf_split_close(struct dwarf *dwarf);
