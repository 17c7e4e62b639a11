/* Checks the text of a format before libtraceevent parses it. libtraceevent expects valid text: on invalid text it reads freed tokens,
 * recurses without a limit and divides by zero. The accepted grammar is:
 *
 *   name: WORD \n ID: NUMBER \n format: \n { field:TYPE WORD; offset:N; size:N; [signed:N;] \n | \n } print fmt: TEXT {, EXPRESSION}
 *
 * with C expressions over numbers, texts, REC->FIELD, casts, calls and {value, text} pairs. */
#include "tracepoint/event.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 65536
#define NESTING_MAX 256    /* of expressions and operands */
#define OPERATORS_MAX 4096 /* in one argument */

struct guard {
	const char *p, *end;
	const char *fields, *fields_end; /* the range of the field lines */
	unsigned depth, operators;
};

/* What is known about an expression's value before there is a record: whether libtraceevent may divide by it. */
enum value { VALUE_VARIES, VALUE_NUMBER, VALUE_CONSTANT /* folded by libtraceevent, or 0 */ };

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void guard_skip_space(struct guard *g)
{
	while (g->p < g->end && (*g->p == ' ' || *g->p == '\t' || *g->p == '\n'))
		g->p++;
}

static bool guard_next_is(const struct guard *g, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(g->end - g->p) >= len && !memcmp(g->p, text, len);
}

static bool guard_accept(struct guard *g, const char *text)
{
	guard_skip_space(g);
	if (!guard_next_is(g, text))
		return false;
	g->p += strlen(text);
	return true;
}

/* The same without skipping space. */
static bool guard_accept_here(struct guard *g, const char *text)
{
	if (!guard_next_is(g, text))
		return false;
	g->p += strlen(text);
	return true;
}

static struct span guard_take_word(struct guard *g)
{
	const char *start = g->p;

	while (g->p < g->end && is_word_byte(*g->p))
		g->p++;
	return (struct span){ (const uint8_t *)start, (size_t)(g->p - start) };
}

static bool guard_take_digits(struct guard *g)
{
	const char *start = g->p;

	while (g->p < g->end && isdigit((unsigned char)*g->p))
		g->p++;
	return g->p > start && g->p - start < 10;
}

/* Checks "unsigned long args[6]" up to the ';'. *name: the last word outside of brackets. */
static bool check_declaration(struct guard *g, struct span *name)
{
	unsigned words = 0;
	bool bracket = false, after_dimension = false;

	*name = (struct span){ 0 };
	for (; g->p < g->end && *g->p != ';'; g->p++) {
		if (is_word_byte(*g->p)) {
			struct span word = guard_take_word(g);
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
	return !bracket && words >= 2 && guard_accept_here(g, ";");
}

static bool check_field_line(struct guard *g)
{
	struct span name;

	if (!guard_accept_here(g, "field:") || !check_declaration(g, &name))
		return false;
	if (!guard_accept(g, "offset:") || !guard_take_digits(g) || !guard_accept_here(g, ";"))
		return false;
	if (!guard_accept(g, "size:") || !guard_take_digits(g) || !guard_accept_here(g, ";"))
		return false;
	guard_skip_space(g);
	return !guard_accept_here(g, "signed:") || ((guard_accept_here(g, "0") || guard_accept_here(g, "1")) && guard_accept_here(g, ";"));
}

static bool is_declared(const struct guard *g, struct span word)
{
	struct guard at = { .p = g->fields, .end = g->fields_end };
	struct span name;

	while ((at.p = memmem(at.p, (size_t)(at.end - at.p), "field:", 6))) {
		at.p += 6;
		if (check_declaration(&at, &name) && name.len == word.len && word.len && !memcmp(name.data, word.data, word.len))
			return true;
	}
	return false;
}

static bool check_text(struct guard *g)
{
	if (!guard_accept_here(g, "\""))
		return false;
	for (; g->p < g->end && *g->p != '"'; g->p++)
		if (*g->p == '\\' && g->p + 1 < g->end)
			g->p++;
	return guard_accept_here(g, "\"");
}

/* Checks a number and its suffix. *value is 0 if it must not be a divisor. */
static bool check_number(struct guard *g, uint64_t *value)
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
	return g->p == g->end || !is_word_byte(*g->p);
}

static bool check_expression(struct guard *g, enum value *value);
static bool check_unary(struct guard *g, enum value *value);
static bool check_primary(struct guard *g, enum value *value);

/* Checks the arguments of a call up to its ')': expressions and {value, text} pairs. */
static bool check_arguments(struct guard *g)
{
	enum value value;

	if (guard_accept(g, ")"))
		return true;
	do {
		if (guard_accept(g, "{")) {
			if (!check_expression(g, &value) || !guard_accept(g, ",") || !check_primary(g, &value) || !guard_accept(g, "}"))
				return false;
		} else if (!check_expression(g, &value)) {
			return false;
		}
	} while (guard_accept(g, ","));
	return guard_accept(g, ")");
}

/* Skips a type: words and stars up to ')'. Returns false and does not move if there is another expression. */
static bool skip_type(struct guard *g)
{
	const char *start = g->p;
	unsigned words = 0, stars = 0;

	for (;;) {
		guard_skip_space(g);
		if (g->p < g->end && is_word_byte(*g->p) && !isdigit((unsigned char)*g->p) && !stars && !guard_next_is(g, "REC")) {
			guard_take_word(g);
			words++;
		} else if (words && guard_accept_here(g, "*")) {
			stars++;
		} else {
			break;
		}
	}
	if (words && guard_accept_here(g, ")"))
		return true;
	g->p = start;
	return false;
}

static bool check_name(struct guard *g, enum value *value, bool parenthesized)
{
	struct span word = guard_take_word(g);
	bool record = word.len == 3 && !memcmp(word.data, "REC", 3);

	*value = VALUE_VARIES;
	if (record) {
		if (parenthesized && !guard_accept(g, ")"))
			return false;
		if (!guard_accept(g, "->"))
			return false;
		guard_skip_space(g);
		return is_declared(g, guard_take_word(g));
	}
	if (word.len == 6 && !memcmp(word.data, "sizeof", 6)) {
		*value = VALUE_NUMBER;
		return guard_accept(g, "(") && skip_type(g);
	}
	if (guard_accept(g, "("))
		return check_arguments(g);
	*value = VALUE_CONSTANT; /* libtraceevent evaluates an unknown name to 0 */
	return true;
}

/* Whether the text is "REC)", as in "(REC)->field". */
static bool next_is_record(struct guard *g)
{
	struct guard ahead = *g;

	return guard_accept(&ahead, "REC") && guard_accept(&ahead, ")");
}

static bool check_parenthesized(struct guard *g, enum value *value)
{
	guard_skip_space(g);
	if (next_is_record(g))
		return check_name(g, value, true);
	if (skip_type(g)) {
		guard_skip_space(g);
		if (g->p < g->end && (is_word_byte(*g->p) || strchr("(\"~", *g->p)))
			return check_unary(g, value);
		*value = VALUE_CONSTANT; /* a single name */
		return true;
	}
	return check_expression(g, value) && guard_accept(g, ")");
}

static bool check_primary(struct guard *g, enum value *value)
{
	uint64_t number;

	guard_skip_space(g);
	if (g->p == g->end)
		return false;
	*value = VALUE_CONSTANT;
	if (*g->p == '"') {
		do {
			if (!check_text(g))
				return false;
			guard_skip_space(g);
		} while (guard_next_is(g, "\""));
		return true;
	}
	if (guard_accept_here(g, "'")) {
		g->p += guard_next_is(g, "\\") ? 2 : 1;
		return g->p < g->end && guard_accept_here(g, "'");
	}
	if (isdigit((unsigned char)*g->p)) {
		if (!check_number(g, &number))
			return false;
		*value = number ? VALUE_NUMBER : VALUE_CONSTANT;
		return true;
	}
	if (guard_accept_here(g, "("))
		return check_parenthesized(g, value);
	return is_word_byte(*g->p) && check_name(g, value, false);
}

static bool check_unary(struct guard *g, enum value *value)
{
	bool folded = false;
	enum value index;

	if (g->depth++ > NESTING_MAX)
		return false;
	guard_skip_space(g);
	if (g->p < g->end && strchr("!~-+", *g->p)) {
		g->p++;
		folded = true;
		if (!check_unary(g, value))
			return false;
	} else if (!check_primary(g, value)) {
		return false;
	}
	while (guard_accept(g, "[")) {
		if (!check_expression(g, &index) || !guard_accept(g, "]"))
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

	guard_skip_space(g);
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (guard_accept_here(g, operators[i]))
			return operators[i];
	return NULL;
}

/* libtraceevent has its own operator precedence, so each operand is checked separately: a divisor must be a number other than 0, or a
 * value that libtraceevent cannot fold to 0 before there is a record. */
static bool check_expression(struct guard *g, enum value *value)
{
	enum value right;
	const char *operator;
	bool divided = false;

	if (g->depth++ > NESTING_MAX || !check_unary(g, value))
		return false;
	while ((operator = binary_operator(g))) {
		if (++g->operators > OPERATORS_MAX || (divided && *operator != '?'))
			return false;
		if (*operator == '?' && (!check_expression(g, &right) || !guard_accept(g, ":")))
			return false;
		if (!check_unary(g, &right))
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

static bool check_format_head(struct guard *g)
{
	if (!guard_accept(g, "name:") || !guard_accept(g, " "))
		guard_skip_space(g);
	if (!guard_take_word(g).len || !guard_accept(g, "ID:"))
		return false;
	guard_skip_space(g);
	if (!guard_take_digits(g) || !guard_accept(g, "format:"))
		return false;
	g->fields = g->p;
	for (;;) {
		guard_skip_space(g);
		g->fields_end = g->p;
		if (g->p == g->end || guard_next_is(g, "print fmt:"))
			return true;
		if (!check_field_line(g))
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
	if (!check_format_head(&g))
		return false;
	if (!guard_accept(&g, "print fmt:"))
		return true;
	do {
		guard_skip_space(&g);
		if (!check_text(&g))
			return false;
		guard_skip_space(&g);
	} while (guard_next_is(&g, "\""));
	while (guard_accept(&g, ",")) {
		g.depth = g.operators = 0;
		if (!check_expression(&g, &value))
			return false;
	}
	guard_skip_space(&g);
	return g.p == g.end;
}
