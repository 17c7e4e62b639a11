/* The members of a type as a list. */
#pragma once
#include "analysis/datatype/datatype.h"

/* Adds the members of a structure, and those inside them; other types have none. texts owns the names. */
void members_add(struct data_type *type, const struct dwarf_die *die, struct arena *texts);
