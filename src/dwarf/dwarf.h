/* DWARF 2 to 5 of one debug file as an index: an address → its source line, its function and the inlined calls. Format: DWARF 5 (sections
 * 2, 3, 6, 7) and GNU extensions (split DWARF 4, .gnu_debugaltlink). Does not know modules and does not search for files: the caller
 * provides the parts.
 *
 * Opening reads only which unit each address belongs to; a unit is parsed once, at the first look-up in it. All look-ups are safe from
 * several threads. Texts are borrowed from the sections or from the index and are valid until dwarf_close. Addresses are those of the
 * file (as linked). */
#pragma once
#include "base/error.h"
#include "dwarf/types.h"

/* Opens the index, to be closed with dwarf_close. Fails with ERROR_FORMAT if the file has no readable debug information. */
int dwarf_open(struct dwarf **dwarf, const struct dwarf_parts *parts, struct error *err);
void dwarf_close(struct dwarf *dwarf); /* NULL is allowed */

/* Returns the source line of address; false and a zeroed *place: unknown. */
bool dwarf_line(struct dwarf *dwarf, uint64_t address, struct dwarf_place *place);
/* Returns the function at address and the functions inlined there, innermost first, at most max of them; 0 if no function is known.
 * Allocates nothing if the unit is parsed and the path of the file was asked for before. */
size_t dwarf_frames(struct dwarf *dwarf, uint64_t address, struct dwarf_frame *frames, size_t max);
/* Returns the name and the range of the concrete function at address, for code without a symbol; false: unknown. */
bool dwarf_function(struct dwarf *dwarf, uint64_t address, const char **name, uint64_t *start, uint64_t *end);
/* Returns the entry address of the concrete function at address: the start of the first of its ranges; false: unknown. */
bool dwarf_entry(struct dwarf *dwarf, uint64_t address, uint64_t *entry);
struct dwarf_counters dwarf_counters(const struct dwarf *dwarf);

/* Returns the name (as stored) and the build-id in .gnu_debugaltlink, borrowed from the section; false: absent. */
bool dwarf_alternate(const struct elf *elf, const char **name, struct span *build_id);
