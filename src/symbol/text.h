/* Retains symbol names inside the text from which they are parsed: each name moves to the front, the rest is freed. A line is always longer
 * than its name and a NUL, so a name never overwrites unread text. */
#pragma once
#include <stddef.h>
#include <string.h>

#include "symbol/table.h"

/* Moves len bytes of text to *used and terminates them with a NUL. */
static inline const char *text_keep(char *text, size_t *used, const char *name, size_t len)
{
	char *kept = memmove(text + *used, name, len);
	kept[len] = '\0';
	*used += len + 1;
	return kept;
}

/* Frees the text beyond `used`; adjusts the builder's names if the text moves. */
static inline char *text_shrink(char *text, size_t used, struct table_builder *builder)
{
	uintptr_t old = (uintptr_t)text;
	char *moved = memory_resize(text, used, 1);
	for (size_t i = 0; i < builder->fresh.count && (uintptr_t)moved != old; i++)
		builder->fresh.items[i].name = moved + ((uintptr_t)builder->fresh.items[i].name - old);
	return moved;
}
