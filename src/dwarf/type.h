/* Types of variables: qualifiers and typedefs, sizes, members, names. Format: DWARF 5, section 5. References between types may be circular
 * in damaged files: each look-up ends after a limited number of steps. */
#pragma once
#include "base/str.h"
#include "dwarf/die.h"

/* The DIE's type without const, volatile, restrict and atomic; …_real: without typedefs, too. False: it has no type (void). type may be
 * die. */
bool dwarf_type_plain(const struct dwarf_die *die, struct dwarf_die *type);
bool dwarf_type_real(const struct dwarf_die *die, struct dwarf_die *type);
bool dwarf_type_is_structure(uint16_t tag); /* struct, class or union */
bool dwarf_type_is_signed(const struct dwarf_die *type);
/* The size in bytes; false: unknown. */
bool dwarf_type_size(const struct dwarf_die *type, uint64_t *size);
/* The number of dimensions of an array, and the elements of each, at most max of them; 0: no array, or one of unknown size. */
unsigned dwarf_type_dimensions(const struct dwarf_die *array, uint64_t *counts, unsigned max);
/* The direct member of that name, or the unnamed member or base class that contains it (at any depth). */
bool dwarf_type_member(const struct dwarf_die *type, const char *name, struct dwarf_die *member);
/* The member's offset in bytes; false: unknown, or not constant. */
bool dwarf_member_offset(const struct dwarf_die *member, uint64_t *offset);
/* The bits of a member that is a bit field, counted from the least significant bit of the unit of `size` bytes at `offset` of the
 * structure; false: it is no bit field. */
struct dwarf_bits {
	uint64_t offset, size;
	uint32_t shift, count;
};
bool dwarf_member_bits(const struct dwarf_die *member, struct dwarf_bits *bits);
/* Appends the name of the DIE's type, as C writes it after the elements: "char*", "struct item", "int[]"; false: it has no name. …_text: of
 * the type itself. */
bool dwarf_type_name(const struct dwarf_die *die, struct str *name);
bool dwarf_type_text(const struct dwarf_die *type, struct str *name);
