/* Variables of a scope of DWARF by their place, and the types of parts of variables. Knows no instruction. */
#pragma once
#include "base/vec.h"
#include "dwarf/die.h"

/* Places of variables: a register by its DWARF number, or the frame base. */
enum { AT_UNKNOWN = -1, AT_FRAME = 0x2000 };

struct variable {
	struct dwarf_die type;     /* without qualifiers and typedefs */
	uint64_t from;             /* the address from which it is at this place; 0: in all of its scope */
	int32_t place;
	int64_t offset;            /* from the place */
};

struct variables {
	VEC(struct variable) list;
};

enum { SCOPES_MAX = 64 };

/* The function at address and the blocks and inlined calls inside it that contain address, outermost first. */
size_t variable_scopes(struct dwarf *dwarf, uint64_t address, struct dwarf_die scopes[static SCOPES_MAX]);

/* The variable of the scope itself which the register points to at address, or which is at an offset from it: *offset becomes the offset in
 * the variable or in its target. framed: the register is the frame base. */
bool variable_by_register(const struct dwarf_die *scope, uint64_t address, int reg, bool framed, int64_t *offset,
	struct dwarf_die *variable);
/* The variable of the scope itself that contains the address of data. */
bool variable_by_address(const struct dwarf_die *scope, uint64_t data, int64_t *offset, struct dwarf_die *variable);
/* Adds the variables and parameters of the scope itself at their first places, up to a limit. */
void variable_collect(const struct dwarf_die *scope, struct variables *variables);
/* The address of a variable that has one; false: it has none. */
bool variable_address(const struct dwarf_die *variable, uint64_t *address);

bool type_is_pointer(const struct dwarf_die *type); /* or an array */
/* The size of a type, also of a typedef's. */
bool type_size(const struct dwarf_die *type, uint64_t *size);
/* Whether b says more about memory than a. */
bool type_is_better(const struct dwarf_die *a, const struct dwarf_die *b);
/* The type of the innermost member at an offset; of a type without members: the type itself. */
bool type_member(const struct dwarf_die *type, int64_t offset, struct dwarf_die *member);
/* The same of the target of a pointer. */
bool type_target_member(const struct dwarf_die *pointer, int64_t offset, struct dwarf_die *member);
/* The offset of a member in bytes, also of a bit field. */
uint64_t member_offset(const struct dwarf_die *member);
