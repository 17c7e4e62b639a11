/* What is asked of a format's text before libtraceevent sees it. The library trusts the kernel: on text that is no proper format
 * it reads freed tokens, recurses as deep as told and divides by zero. So the text is recognised first, by the grammar below:
 *
 *   name: WORD \n ID: NUMBER \n format: \n { field:TYPE WORD; offset:N; size:N; [signed:N;] \n | \n } print fmt: TEXT {, EXPRESSION}
 *
 * with C's expressions over numbers, texts, REC->FIELD, casts, calls and {value, text} pairs. */
#include "tracepoint/event.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 65536
#define NESTING_MAX 256    /* of expressions and operands */
#define OPERATORS_MAX 4096 /* in one argument */

struct guard {
	const char *p, *end;
	const char *fields, *fields_end; /* where the field lines are */
	unsigned depth, operators;
};

/* What an expression came to: enough to know what dividing by it does. */
enum value { VALUE_VARIES, VALUE_NUMBER, VALUE_CONSTANT /* folded, or 0 */ };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void skip_space(struct guard *g)
{
	while (g->p < g->end && (*g->p == ' ' || *g->p == '\t' || *g->p == '\n'))
		g->p++;
}

static bool next_is(const struct guard *g, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(g->end - g->p) >= len && !memcmp(g->p, text, len);
}

static bool accept(struct guard *g, const char *text)
{
	skip_space(g);
	if (!next_is(g, text))
		return false;
	g->p += strlen(text);
	return true;
}

/* As accept, no space before. */
static bool accept_here(struct guard *g, const char *text)
{
	if (!next_is(g, text))
		return false;
	g->p += strlen(text);
	return true;
}

static struct span take_word(struct guard *g)
{
	const char *start = g->p;

	while (g->p < g->end && is_word(*g->p))
		g->p++;
	return (struct span){ (const uint8_t *)start, (size_t)(g->p - start) };
}

static bool take_digits(struct guard *g)
{
	const char *start = g->p;

	while (g->p < g->end && isdigit((unsigned char)*g->p))
		g->p++;
	return g->p > start && g->p - start < 10;
}

/* "unsigned long args[6]" up to the ';'. *name: the last word outside of brackets. */
static bool declaration(struct guard *g, struct span *name)
{
	unsigned words = 0;
	bool bracket = false, after_dimension = false;

	*name = (struct span){ 0 };
	for (; g->p < g->end && *g->p != ';'; g->p++) {
		if (is_word(*g->p)) {
			struct span word = take_word(g);
			g->p--;
			if (after_dimension && words == 0)
				return false;
			if (bracket)
				continue;
			*name = word;
			words++;
		} else if (*g->p == '[' && !bracket && words) {
			bracket = true;
		} else if (*g->p == ']' && bracket) {
			bracket = false;
			after_dimension = true;
		} else if (*g->p == '*' && !bracket && words) {
			;
		} else if (*g->p != ' ') {
			return false;
		}
	}
	return !bracket && words >= 2 && accept_here(g, ";");
}

static bool field_line(struct guard *g)
{
	struct span name;

	if (!accept_here(g, "field:") || !declaration(g, &name))
		return false;
	if (!accept(g, "offset:") || !take_digits(g) || !accept_here(g, ";") || !accept(g, "size:") || !take_digits(g) ||
	    !accept_here(g, ";"))
		return false;
	skip_space(g);
	return !accept_here(g, "signed:") || ((accept_here(g, "0") || accept_here(g, "1")) && accept_here(g, ";"));
}

static bool is_declared(const struct guard *g, struct span word)
{
	struct guard at = { .p = g->fields, .end = g->fields_end };
	struct span name;

	while ((at.p = memmem(at.p, (size_t)(at.end - at.p), "field:", 6))) {
		at.p += 6;
		if (declaration(&at, &name) && name.len == word.len && word.len && !memcmp(name.data, word.data, word.len))
			return true;
	}
	return false;
}

static bool text_literal(struct guard *g)
{
	if (!accept_here(g, "\""))
		return false;
	for (; g->p < g->end && *g->p != '"'; g->p++)
		if (*g->p == '\\' && g->p + 1 < g->end)
			g->p++;
	return accept_here(g, "\"");
}

/* A number and its suffix; *value is 0 for what must not be divided by. */
static bool number_literal(struct guard *g, uint64_t *value)
{
	char digits[32] = "", *rest;
	size_t left = (size_t)(g->end - g->p);

	memcpy(digits, g->p, left < sizeof digits - 1 ? left : sizeof digits - 1);
	*value = strtoull(digits, &rest, 0);
	if (rest == digits || rest - digits > 24)
		return false;
	g->p += rest - digits;
	if (*value > INT64_MAX)
		*value = 0;
	while (g->p < g->end && strchr("uUlL", *g->p))
		g->p++;
	return g->p == g->end || !is_word(*g->p);
}

static bool expression(struct guard *g, enum value *value);
static bool unary(struct guard *g, enum value *value);
static bool primary(struct guard *g, enum value *value);

/* Arguments of a call up to its ')': expressions, and {value, text} pairs. */
static bool arguments(struct guard *g)
{
	enum value value;

	if (accept(g, ")"))
		return true;
	do {
		if (accept(g, "{")) {
			if (!expression(g, &value) || !accept(g, ",") || !primary(g, &value) || !accept(g, "}"))
				return false;
		} else if (!expression(g, &value)) {
			return false;
		}
	} while (accept(g, ","));
	return accept(g, ")");
}

/* Words and stars alone up to ')': a type. Leaves the position where it was if it is none. */
static bool type_in_parens(struct guard *g)
{
	const char *start = g->p;
	unsigned words = 0, stars = 0;

	for (;;) {
		skip_space(g);
		if (g->p < g->end && is_word(*g->p) && !isdigit((unsigned char)*g->p) && !stars && !next_is(g, "REC")) {
			take_word(g);
			words++;
		} else if (words && accept_here(g, "*")) {
			stars++;
		} else {
			break;
		}
	}
	if (words && accept_here(g, ")"))
		return true;
	g->p = start;
	return false;
}

static bool named(struct guard *g, enum value *value, bool in_parens)
{
	struct span word = take_word(g);
	bool record = word.len == 3 && !memcmp(word.data, "REC", 3);

	*value = VALUE_VARIES;
	if (record) {
		if (in_parens && !accept(g, ")"))
			return false;
		if (!accept(g, "->"))
			return false;
		skip_space(g);
		return is_declared(g, take_word(g));
	}
	if (word.len == 6 && !memcmp(word.data, "sizeof", 6)) {
		*value = VALUE_NUMBER;
		return accept(g, "(") && type_in_parens(g);
	}
	if (accept(g, "("))
		return arguments(g);
	*value = VALUE_CONSTANT; /* a name that nobody defines counts as 0 */
	return true;
}

/* "(REC)->field", from the REC. */
static bool record_in_parens(struct guard *g)
{
	struct guard ahead = *g;

	return accept(&ahead, "REC") && accept(&ahead, ")");
}

static bool in_parens(struct guard *g, enum value *value)
{
	skip_space(g);
	if (record_in_parens(g))
		return named(g, value, true);
	if (type_in_parens(g)) {
		skip_space(g);
		if (g->p < g->end && (is_word(*g->p) || strchr("(\"~", *g->p)))
			return unary(g, value);
		*value = VALUE_CONSTANT; /* a lone name */
		return true;
	}
	return expression(g, value) && accept(g, ")");
}

static bool primary(struct guard *g, enum value *value)
{
	uint64_t number;

	skip_space(g);
	if (g->p == g->end)
		return false;
	*value = VALUE_CONSTANT;
	if (*g->p == '"') {
		do {
			if (!text_literal(g))
				return false;
			skip_space(g);
		} while (next_is(g, "\""));
		return true;
	}
	if (accept_here(g, "'")) {
		g->p += next_is(g, "\\") ? 2 : 1;
		return g->p < g->end && accept_here(g, "'");
	}
	if (isdigit((unsigned char)*g->p)) {
		if (!number_literal(g, &number))
			return false;
		*value = number ? VALUE_NUMBER : VALUE_CONSTANT;
		return true;
	}
	if (accept_here(g, "("))
		return in_parens(g, value);
	return is_word(*g->p) && named(g, value, false);
}

static bool unary(struct guard *g, enum value *value)
{
	bool folded = false;
	enum value index;

	if (g->depth++ > NESTING_MAX)
		return false;
	skip_space(g);
	if (g->p < g->end && strchr("!~-+", *g->p)) {
		g->p++;
		folded = true;
		if (!unary(g, value))
			return false;
	} else if (!primary(g, value)) {
		return false;
	}
	while (accept(g, "[")) {
		if (!expression(g, &index) || !accept(g, "]"))
			return false;
		*value = VALUE_VARIES;
	}
	if (folded && *value == VALUE_NUMBER)
		*value = VALUE_CONSTANT;
	g->depth--;
	return true;
}

static const char *binary_operator(struct guard *g)
{
	static const char *const operators[] = {
		"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "?",
	};

	skip_space(g);
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (accept_here(g, operators[i]))
			return operators[i];
	return NULL;
}

/* The library's precedence is its own, so operands are looked at one by one: a divisor must be a plain number that is not 0, or
 * something that no folding can make 0 before there is a record. */
static bool expression(struct guard *g, enum value *value)
{
	enum value right;
	const char *operator;
	bool divided = false;

	if (g->depth++ > NESTING_MAX || !unary(g, value))
		return false;
	while ((operator = binary_operator(g))) {
		if (++g->operators > OPERATORS_MAX || (divided && *operator != '?'))
			return false;
		if (*operator == '?' && (!expression(g, &right) || !accept(g, ":")))
			return false;
		if (!unary(g, &right))
			return false;
		bool divides = *operator == '/' || *operator == '%';
		if (divides && right == VALUE_CONSTANT)
			return false;
		divided |= divides && right == VALUE_NUMBER;
		*value = *value == VALUE_VARIES || right == VALUE_VARIES ? VALUE_VARIES : VALUE_CONSTANT;
	}
	g->depth--;
	return true;
}

static bool head(struct guard *g)
{
	if (!accept(g, "name:") || !accept(g, " "))
		skip_space(g);
	if (!take_word(g).len || !accept(g, "ID:"))
		return false;
	skip_space(g);
	if (!take_digits(g) || !accept(g, "format:"))
		return false;
	g->fields = g->p;
	for (;;) {
		skip_space(g);
		g->fields_end = g->p;
		if (g->p == g->end || next_is(g, "print fmt:"))
			return true;
		if (!field_line(g))
			return false;
	}
}

bool format_is_sane(const char *text, size_t len)
{
	struct guard g = { .p = text, .end = text + len };
	enum value value;

	if (len == 0 || len > TEXT_MAX)
		return false;
	for (const char *p = text; p < g.end; p++)
		if (!isprint((unsigned char)*p) && *p != '\n' && *p != '\t')
			return false;
	if (!head(&g))
		return false;
	if (!accept(&g, "print fmt:"))
		return true;
	do {
		skip_space(&g);
		if (!text_literal(&g))
			return false;
		skip_space(&g);
	} while (next_is(&g, "\""));
	while (accept(&g, ",")) {
		g.depth = g.operators = 0;
		if (!expression(&g, &value))
			return false;
	}
	skip_space(&g);
	return g.p == g.end;
}
