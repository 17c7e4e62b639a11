/* Split DWARF: the unit of a .dwo or .dwp file that a skeleton unit stands for. Format: DWARF 5, section 7.3, and its GNU
 * predecessor for DWARF 4. */
#pragma once
#include "elf/dwarf_internal.h"

/* The unit that describes the skeleton's functions, ready to read; NULL: its file is nowhere or does not match. The caller
 * holds the skeleton's lock. */
struct dwarf_unit *dwarf_split_open(struct dwarf_unit *skeleton);
void dwarf_split_close(struct dwarf *dwarf);
