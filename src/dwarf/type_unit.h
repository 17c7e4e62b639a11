/* Type units: types that several units refer to by a signature (DW_FORM_ref_sig8). They are in .debug_info (DWARF 5), in .debug_types
 * (DWARF 4), in the .dwo of the unit that refers to them, or in the package. */
#pragma once
#include "dwarf/internal.h"

/* Returns the unit of the type, after dwarf_unit_prepare, and the offset of the type's DIE in the unit's section; NULL: absent. Safe from
 * several threads. */
struct dwarf_unit *dwarf_type_unit(struct dwarf_file *file, uint64_t signature, uint64_t *offset);
