/* Symbol names kept inside the text they were read from: each moves to the front, what lies between is given back. A line
 * is always longer than its name and a NUL, so a name never overwrites what is still to be read. */
#pragma once
#include <stddef.h>
#include <string.h>

#include "symbol/table.h"

/* Moves len bytes of text to *used and ends them with a NUL. */
static inline const char *text_keep(char *text, size_t *used, const char *name, size_t len)
{
	char *kept = memmove(text + *used, name, len);
	kept[len] = '\0';
	*used += len + 1;
	return kept;
}

/* Gives back what lies behind `used`; names of the builder follow where the text moved. */
static inline char *text_shrink(char *text, size_t used, struct table_builder *builder)
{
	uintptr_t old = (uintptr_t)text;
	char *moved = memory_resize(text, used, 1);
	for (size_t i = 0; i < builder->fresh.count && (uintptr_t)moved != old; i++)
		builder->fresh.items[i].name = moved + ((uintptr_t)builder->fresh.items[i].name - old);
	return moved;
}
