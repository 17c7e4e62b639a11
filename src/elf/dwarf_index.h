/* Which unit an address lies in. */
#pragma once
#include "elf/dwarf_internal.h"

/* Fills dwarf->segment_*: from .debug_aranges, for units that it leaves out from their own ranges, for those that have none
 * from their functions and lines. */
void dwarf_index_build(struct dwarf *dwarf);
