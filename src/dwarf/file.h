/* The debug sections of one file, and its units by offset. */
#pragma once
#include "dwarf/internal.h"

enum dwarf_role { DWARF_MAIN, DWARF_ALTERNATE, DWARF_SPLIT, DWARF_PACKAGE };

/* Loads and decompresses the sections, and lists the units. Fails with ERROR_FORMAT if .debug_info or .debug_abbrev is absent or
 * unreadable; dwarf_file_close is due in any case. */
int dwarf_file_open(struct dwarf_file *file, struct dwarf *dwarf, const struct elf *elf, enum dwarf_role role, struct error *err);
/* Reads one unit header of SECTION_INFO or SECTION_TYPES and moves past the unit; false: the rest of the section is unusable. unit->version
 * 0: the unit is damaged or of an unknown version. */
bool dwarf_unit_header(struct dwarf_file *file, enum dwarf_section section, struct cursor *c, struct dwarf_unit *unit);
/* Lists the units of file->section[SECTION_INFO], without type units. */
void dwarf_file_list_units(struct dwarf_file *file);
/* Loads a section that is rarely needed (SECTION_LATE and later), at the first call. Safe from several threads. */
void dwarf_file_section(struct dwarf_file *file, enum dwarf_section section);
void dwarf_file_close(struct dwarf_file *file); /* a zeroed one is allowed */
/* Returns the unit that contains this offset of .debug_info, or NULL. */
struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *file, uint64_t offset);

/* Reads the unit's top DIE at the first call; false: it is damaged. Safe from several threads. */
bool dwarf_unit_prepare(struct dwarf_unit *unit);
