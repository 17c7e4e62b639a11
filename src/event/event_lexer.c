#include "event/event_lexer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_terms.h"

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define HEX_DIGITS DIGITS "abcdefABCDEF"

enum { HEX_MAX = 16, MODIFIERS_MAX = 16, ACCESS_MAX = 3 };

/* The length of a word that begins with one of `head` and continues with any of `tail`. */
static size_t word_length(const char *text, const char *head, const char *tail)
{
	return *text && strchr(head, *text) ? 1 + strspn(text + 1, tail) : 0;
}

static bool word_is(const char *text, size_t length, const char *letters, size_t max)
{
	return length > 0 && length <= max && strspn(text, letters) >= length;
}

bool event_raw_code(const char *word, size_t length)
{
	return length > 1 && word[0] == 'r' && word_is(word + 1, length - 1, HEX_DIGITS, HEX_MAX);
}

static struct event_token token_of(struct event_lexer *lexer, enum event_token_kind kind, size_t length)
{
	lexer->before = lexer->first;
	lexer->first = lexer->at;
	lexer->at += length;
	return (struct event_token){ .kind = kind, .text = lexer->text + lexer->first, .length = length, .at = lexer->first };
}

static struct event_token number_token(struct event_lexer *lexer, size_t length, int base)
{
	struct event_token token = token_of(lexer, TOKEN_VALUE, length);
	errno = 0;
	token.value = strtoull(token.text, NULL, base);
	if (errno)
		token.kind = TOKEN_ERROR;
	return token;
}

/* The base of the number that the word is; 0: another word. */
static int number_base(const char *word, size_t length)
{
	if (word_is(word, length, DIGITS, SIZE_MAX))
		return 10;
	return length > 2 && word[0] == '0' && word[1] == 'x' && word_is(word + 2, length - 2, HEX_DIGITS, HEX_MAX) ? 16 : 0;
}

/* The length of the text in quotes that names an event or an event group: without spaces; 0: it is something else. */
static size_t quoted_length(const char *text)
{
	size_t length = word_length(text + 1, LETTERS DIGITS "_*?[]", LETTERS DIGITS "_*?-,.[]:=");
	return *text == '\'' && length && text[1 + length] == '\'' ? length + 2 : 0;
}

static struct event_token quoted_token(struct event_lexer *lexer, size_t length)
{
	struct event_token token = token_of(lexer, TOKEN_NAME, length);
	token.text++;
	token.length -= 2;
	return token;
}

/* The begin of an event: the longest of "name{…}…", "pmu/…/…" and "event". Only the last two become a token. */
static size_t event_length(const char *text, bool *group)
{
	size_t word = strcspn(text, ",{}/"), length = word;
	*group = false;
	if (word && text[word] == '/') {
		size_t terms = strcspn(text + word + 1, "/");
		if (text[word + 1 + terms] == '/') {
			length = word + terms + 2;
			length += strcspn(text + length, ",{}/");
		}
	}
	if (text[word] == '{') {
		size_t inside = strcspn(text + word + 1, "}");
		size_t end = word + inside + 2;
		*group = text[word + 1 + inside] == '}' && end + strcspn(text + end, ",{}/") >= length;
	}
	return length;
}

/* Returns whether there is a token. */
static bool lex_event(struct event_lexer *lexer, struct event_token *token)
{
	bool group;
	const char *text = lexer->text + lexer->at;
	size_t length = event_length(text, &group);
	if (!*text || group || length)
		lexer->state = LEX_PLAIN;
	if (!*text)
		return false;
	*token = token_of(lexer, TOKEN_EVENT, group ? 0 : length);
	token->length = length;
	if (group || length) { /* the tokens of the event follow */
		lexer->at = lexer->first;
		return !group;
	}
	lexer->at++;
	token->kind = TOKEN_COMMA;
	return *text == ','; /* an unclosed brace is skipped */
}

static bool lex_breakpoint(struct event_lexer *lexer, struct event_token *token)
{
	const char *text = lexer->text + lexer->at;
	size_t access = strspn(text, "rwx"), digits = strspn(text, DIGITS), hex = 0;
	if (text[0] == '0' && text[1] == 'x')
		hex = strspn(text + 2, HEX_DIGITS);
	if (access)
		*token = token_of(lexer, TOKEN_ACCESS, access > ACCESS_MAX ? ACCESS_MAX : access);
	else if (text[0] == ':' && text[1] && strchr("rwx", text[1]))
		*token = token_of(lexer, TOKEN_BREAK_COLON, 1);
	else if (text[0] == '/' && text[1] && strchr(DIGITS, text[1]))
		*token = token_of(lexer, TOKEN_BREAK_SLASH, 1);
	else if (text[0] == '/' && text[1])
		*token = token_of(lexer, TOKEN_SLASH, 1), lexer->state = LEX_TERMS;
	else if (hex)
		*token = number_token(lexer, 2 + (hex > HEX_MAX ? HEX_MAX : hex), 16);
	else if (digits)
		*token = number_token(lexer, digits, 10);
	else { /* perf sees the character twice, which moves the place of an error */
		lexer->first = lexer->at;
		lexer->state = LEX_PLAIN;
		return false;
	}
	return true;
}

static bool lex_term_word(struct event_lexer *lexer, struct event_token *token)
{
	const char *text = lexer->text + lexer->at;
	size_t minus = word_length(text, LETTERS "_*?", LETTERS DIGITS "-_*?.:");
	size_t name = word_length(text, LETTERS DIGITS "_*?[]", LETTERS DIGITS "_*?.[]!-");
	if (text[0] == '@') {
		size_t length = strspn(text + 1, LETTERS DIGITS "_.");
		if (!length)
			return false;
		if (text[1 + length] == '=') {
			size_t value = strspn(text + 2 + length, LETTERS DIGITS "_*?.:");
			length += value ? 1 + value : 0;
		}
		*token = token_of(lexer, TOKEN_DRIVER, 1 + length);
		token->text++;
		token->length--;
		return true;
	}
	if (minus && minus >= name) {
		const struct event_symbol *symbol = event_symbol_find(text, minus);
		*token = token_of(lexer, TOKEN_NAME, minus);
		if (event_term_row(text, minus))
			token->kind = TOKEN_TERM;
		else if (symbol && symbol->type == ATTR_HARDWARE)
			token->kind = TOKEN_SYMBOL, token->symbol = symbol;
		else if (event_raw_code(text, minus) || (minus > 3 && memcmp(text, "r0x", 3) == 0 &&
		         word_is(text + 3, minus - 3, HEX_DIGITS, HEX_MAX)))
			token->kind = TOKEN_RAW;
		else if (!lexer->sysfs && event_cache_is(text, minus))
			token->kind = TOKEN_CACHE;
		return true;
	}
	if (!name)
		return false;
	int base = number_base(text, name);
	*token = base ? number_token(lexer, name, base) : token_of(lexer, TOKEN_NAME, name);
	return true;
}

static bool lex_plain_word(struct event_lexer *lexer, struct event_token *token)
{
	const char *text = lexer->text + lexer->at;
	size_t length = word_length(text, LETTERS DIGITS "_*?[]", LETTERS DIGITS "_*?.[]!-");
	if (length <= 3 && strncmp(text, "mem:", 4) == 0) {
		*token = token_of(lexer, TOKEN_MEM, 4);
		lexer->state = LEX_BREAKPOINT;
		return true;
	}
	if (!length)
		return false;
	int base = number_base(text, length);
	*token = base ? number_token(lexer, length, base) : token_of(lexer, TOKEN_NAME, length);
	const struct event_symbol *symbol = event_symbol_find(text, length);
	if (base)
		return true;
	if (symbol)
		token->kind = TOKEN_SYMBOL, token->symbol = symbol;
	else if (event_cache_is(text, length))
		token->kind = TOKEN_CACHE;
	else if (event_raw_code(text, length))
		token->kind = TOKEN_RAW;
	else if (word_is(text, length, "ukhpPGHSDIWebR", MODIFIERS_MAX))
		token->kind = TOKEN_MODIFIER;
	return true;
}

static bool lex_sign(struct event_lexer *lexer, struct event_token *token)
{
	static const struct {
		char sign;
		enum event_token_kind kind;
	} signs[] = {
		{ '/', TOKEN_SLASH }, { ',', TOKEN_COMMA }, { ':', TOKEN_COLON }, { '{', TOKEN_OPEN }, { '}', TOKEN_CLOSE }, { '=', TOKEN_EQUALS },
	};
	bool terms = lexer->state == LEX_TERMS;
	size_t quoted = quoted_length(lexer->text + lexer->at), i = 0;
	if (quoted) {
		*token = quoted_token(lexer, quoted);
		return true;
	}
	while (i < sizeof signs / sizeof signs[0] && signs[i].sign != lexer->text[lexer->at])
		i++;
	*token = token_of(lexer, TOKEN_END, 1);
	if (i == sizeof signs / sizeof signs[0])
		return false;
	token->kind = signs[i].kind;
	if (token->kind == TOKEN_SLASH)
		lexer->state = terms ? LEX_PLAIN : LEX_TERMS;
	else if (token->kind == TOKEN_OPEN || (token->kind == TOKEN_COMMA && !terms))
		lexer->state = LEX_EVENT;
	return true;
}

struct event_token event_lexer_next(struct event_lexer *lexer)
{
	for (;;) {
		struct event_token token = { .kind = TOKEN_END, .text = lexer->text + lexer->at, .at = lexer->at };
		if (lexer->state == LEX_EVENT) {
			if (lex_event(lexer, &token))
				return token;
		} else if (lexer->text[lexer->at] == '\0') {
			return token;
		} else if (lexer->state == LEX_BREAKPOINT) {
			if (lex_breakpoint(lexer, &token))
				return token;
		} else if ((lexer->state == LEX_TERMS ? lex_term_word(lexer, &token) : lex_plain_word(lexer, &token)) || lex_sign(lexer, &token)) {
			return token;
		}
	}
}
