/* The sections of one file with debug information, and its units by offset. */
#pragma once
#include "elf/dwarf_internal.h"

enum dwarf_role { DWARF_MAIN, DWARF_ALTERNATE, DWARF_SPLIT, DWARF_PACKAGE };

/* Loads (and inflates) the sections and lists the units. < 0: no .debug_info that can be read. */
int dwarf_file_open(struct dwarf_file *file, struct dwarf *dwarf, const struct elf *elf, enum dwarf_role role, struct error *err);
/* Lists the units of file->section[SECTION_INFO]. */
void dwarf_file_list_units(struct dwarf_file *file);
void dwarf_file_close(struct dwarf_file *file); /* a zeroed one is fine */
/* The unit that holds that offset of .debug_info; NULL. */
struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *file, uint64_t offset);

/* Reads the unit's top DIE once; false: the unit makes no sense. Safe from several threads. */
bool dwarf_unit_prepare(struct dwarf_unit *unit);
