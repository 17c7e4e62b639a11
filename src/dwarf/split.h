/* Split DWARF: the unit in a .dwo or .dwp file that a skeleton unit refers to. Format: DWARF 5, section 7.3, and the GNU extension of
 * DWARF 4. */
#pragma once
#include "dwarf/internal.h"

/* Returns the unit that describes the skeleton's functions, after dwarf_unit_prepare; NULL: the file is absent or does not match. The
 * caller holds the skeleton's lock. */
struct dwarf_unit *dwarf_split_open(struct dwarf_unit *skeleton);
/* Returns the package's part with the type unit of that signature; NULL: the package does not contain it. Safe from several threads. */
struct dwarf_file *dwarf_split_type(struct dwarf *dwarf, uint64_t signature);
void dwarf_split_close(struct dwarf *dwarf);
