/* Texts of source lines by number: rows that show the same text become one. */
#pragma once
#include "analysis/entry/state.h"
#include "base/hash.h"

/* Source lines by number, and of frames. */
struct source_texts {
	struct strtab texts;
	struct idmap of_place;
};

struct source_texts *source_texts_new(void);
void source_texts_free(struct source_texts *texts); /* accepts NULL */

/* The text of an entry's key in such a column: its second word has the number of the text from this bit on. */
const char *collapse_text(const struct profile *profile, const uint64_t *key);
#define COLLAPSE_TEXT_SHIFT 32
