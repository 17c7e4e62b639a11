/* The words of a command line, split as a shell splits them, without any expansion: blanks separate words, '...' is literal, in "..."
 * a backslash quotes " and \, elsewhere it quotes any character. Starts no shell and no program. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct words {
	VEC(const char *) list;
	struct arena arena;
};

/* Appends the words of text. < 0: a quote is not closed, or there are too many words. */
int words_split(struct words *words, const char *text, struct error *err);
void words_fini(struct words *words);
