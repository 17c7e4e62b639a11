/* Event texts as tokens. The language is that of perf 6.12: which word becomes which token depends on whether the text is at the begin of
 * an event, after its name, between slashes or after "mem:". Characters that begin no token are skipped. Internal to event/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event_names.h"

enum event_token_kind {
	TOKEN_END,
	TOKEN_ERROR,        /* a number that is too large; `at` is its offset */
	TOKEN_EVENT,        /* precedes an event: the text that becomes its name; covers the tokens after it */
	TOKEN_NAME,
	TOKEN_SYMBOL,       /* a hardware, software or tool event */
	TOKEN_CACHE,
	TOKEN_RAW,          /* "r1a8" */
	TOKEN_VALUE,        /* a decimal or 0x… number */
	TOKEN_MODIFIER,
	TOKEN_TERM,         /* between slashes: the name of a term that is valid for all events */
	TOKEN_DRIVER,       /* between slashes: "@word", without '@' */
	TOKEN_MEM,          /* "mem:" */
	TOKEN_BREAK_COLON,  /* after "mem:": the colon before the access */
	TOKEN_BREAK_SLASH,  /* after "mem:": the slash before the length */
	TOKEN_ACCESS,       /* after "mem:": "rwx" */
	TOKEN_SLASH, TOKEN_COMMA, TOKEN_COLON, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_EQUALS,
};

struct event_token {
	enum event_token_kind kind;
	const char *text;     /* borrowed from the text, without quotes */
	size_t length, at;
	uint64_t value;
	const struct event_symbol *symbol; /* TOKEN_SYMBOL */
};

struct event_lexer {
	const char *text;
	enum event_lexer_state { LEX_EVENT, LEX_PLAIN, LEX_TERMS, LEX_BREAKPOINT } state;
	size_t at;            /* of the next character */
	size_t first, before; /* offsets of the last token, and of the token before it */
	bool sysfs;           /* a text of the kernel: a cache event is a name */
};

struct event_token event_lexer_next(struct event_lexer *lexer);
/* Whether the word has the form of a raw code: 'r' and 1 to 16 hexadecimal digits. */
bool event_raw_code(const char *word, size_t length);
