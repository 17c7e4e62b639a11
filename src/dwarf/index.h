/* The unit that an address belongs to. */
#pragma once
#include "dwarf/internal.h"

/* Fills dwarf->segment_*: from .debug_aranges; for a unit that is absent there from the unit's own ranges; for a unit without ranges from
 * its functions and lines. */
void dwarf_index_build(struct dwarf *dwarf);
