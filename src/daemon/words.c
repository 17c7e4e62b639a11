#include "daemon/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { WORDS_MAX = 512 };

static const char blanks[] = " \t\n\r\v\f";

void words_fini(struct words *words)
{
	vec_fini(&words->list);
	arena_fini(&words->arena);
}

/* Appends the quoted part after the quote; returns the position after its end, NULL if it has none. */
static const char *add_quoted(struct str *word, const char *at, char quote)
{
	for (; *at && *at != quote; at++) {
		if (quote == '"' && *at == '\\' && (at[1] == '"' || at[1] == '\\'))
			at++;
		str_putc(word, *at);
	}
	return *at ? at + 1 : NULL;
}

/* Appends one word; returns the position after it, NULL if a quote is open. */
static const char *add_word(struct str *word, const char *at)
{
	while (at && *at && !strchr(blanks, *at)) {
		if (*at == '\'' || *at == '"') {
			at = add_quoted(word, at + 1, *at);
		} else {
			if (*at == '\\' && at[1])
				at++;
			str_putc(word, *at++);
		}
	}
	return at;
}

int words_split(struct words *words, const char *text, struct error *err)
{
	CLEANUP_STR struct str word = { 0 };
	for (const char *at = text + strspn(text, blanks); *at; at += strspn(at, blanks)) {
		str_clear(&word);
		at = add_word(&word, at);
		if (!at)
			return error_set(err, ERROR_FORMAT, "a quote is not closed in '%s'", text);
		if (words->list.count == WORDS_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d words in '%.80s...'", WORDS_MAX, text);
		vec_push(&words->list, arena_string(&words->arena, str_text(&word), word.len));
	}
	return 0;
}
