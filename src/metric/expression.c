#include "metric/expression.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define SYMBOL "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.:@?"
#define LITERAL "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-"

struct parser {
	struct arena *arena;
	const char *text, *at;
	struct error *err;
	unsigned depth;            /* open parentheses and signs */
};

static const struct expression *parse_choice(struct parser *p);

static const struct expression *wrong(struct parser *p, const char *what)
{
	size_t at = (size_t)(p->at - p->text);
	if (*p->at)
		error_set(p->err, ERROR_FORMAT, "%s at offset %zu of the expression, before '%.24s'", what, at, p->at);
	else
		error_set(p->err, ERROR_FORMAT, "%s at the end of the expression, offset %zu", what, at);
	return NULL;
}

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t\n\r");
}

static bool accept(struct parser *p, char sign)
{
	skip_blanks(p);
	if (*p->at != sign)
		return false;
	p->at++;
	return true;
}

static const struct expression *node(struct parser *p, struct expression from)
{
	const struct expression *below[] = { from.left, from.right, from.condition };
	for (size_t i = 0; i < 3; i++)
		if (below[i] && below[i]->depth > from.depth)
			from.depth = below[i]->depth;
	from.depth++;
	return from.depth > EXPRESSION_DEPTH_MAX ? wrong(p, "more levels than are supported") :
		arena_copy(p->arena, &from, sizeof from);
}

/* The length of the number at `text`: digits with at most one point, and "e" with an exponent; 0: no number. */
static size_t number_length(const char *text)
{
	size_t whole = strspn(text, DIGITS), fraction = text[whole] == '.' ? strspn(text + whole + 1, DIGITS) : 0;
	size_t length = whole + (text[whole] == '.' ? 1 + fraction : 0);
	if (whole + fraction == 0)
		return 0;
	if (text[length] == 'e') {
		size_t sign = text[length + 1] == '-', digits = strspn(text + length + 1 + sign, DIGITS);
		length += digits ? 1 + sign + digits : 0;
	}
	return length;
}

static size_t symbol_length(const char *text)
{
	size_t length = 0;
	for (;;) {
		length += strspn(text + length, SYMBOL);
		if (text[length] != '\\' || !text[length + 1] || !strchr("-,=", text[length + 1]))
			return length;
		length += 2;
	}
}

/* Without escapes, with slashes; the parameter "?" is 0. */
static const char *symbol_copy(struct parser *p, size_t length)
{
	char *copy = arena_string(p->arena, p->at, length), *out = copy;
	for (size_t i = 0; i < length; i++) {
		char c = p->at[i];
		if (c == '\\')
			c = p->at[++i];
		else if (c == '@' || c == '?')
			c = c == '@' ? '/' : '0';
		*out++ = c;
	}
	*out = '\0';
	p->at += length;
	return copy;
}

static bool word_is(const struct parser *p, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(p->at, word, length) == 0;
}

/* "(name)" */
static const struct expression *parse_argument(struct parser *p, enum expression_kind kind)
{
	if (!accept(p, '('))
		return wrong(p, "'(' is missing");
	skip_blanks(p);
	size_t length = symbol_length(p->at);
	if (!length)
		return wrong(p, "a name is missing");
	const char *name = symbol_copy(p, length);
	return accept(p, ')') ? node(p, (struct expression){ .kind = kind, .name = name }) : wrong(p, "')' is missing");
}

/* "(a, b)" */
static const struct expression *parse_pair(struct parser *p, enum expression_kind kind)
{
	if (!accept(p, '('))
		return wrong(p, "'(' is missing");
	const struct expression *left = parse_choice(p);
	if (left && !accept(p, ','))
		return wrong(p, "',' is missing");
	const struct expression *right = left ? parse_choice(p) : NULL;
	if (right && !accept(p, ')'))
		return wrong(p, "')' is missing");
	return right ? node(p, (struct expression){ .kind = kind, .left = left, .right = right }) : NULL;
}

static const struct expression *parse_word(struct parser *p)
{
	static const struct {
		const char *word;
		enum expression_kind kind;
		bool pair;
	} functions[] = {
		{ "min", EXPRESSION_MIN, true }, { "max", EXPRESSION_MAX, true }, { "d_ratio", EXPRESSION_RATIO, true },
		{ "source_count", EXPRESSION_SOURCES, false }, { "has_event", EXPRESSION_HAS, false },
		{ "strcmp_cpuid_str", EXPRESSION_CPUID, false },
	};
	size_t length = symbol_length(p->at), number = number_length(p->at);
	if (number && number >= length) {
		char *digits = arena_string(p->arena, p->at, number);
		p->at += number;
		return node(p, (struct expression){ .kind = EXPRESSION_NUMBER, .number = strtod(digits, NULL) });
	}
	if (!length || word_is(p, length, "if") || word_is(p, length, "else"))
		return wrong(p, "an operand is missing");
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		if (!word_is(p, length, functions[i].word))
			continue;
		p->at += length;
		return functions[i].pair ? parse_pair(p, functions[i].kind) : parse_argument(p, functions[i].kind);
	}
	return node(p, (struct expression){ .kind = EXPRESSION_NAME, .name = symbol_copy(p, length) });
}

static const struct expression *parse_operand(struct parser *p)
{
	const struct expression *result;
	skip_blanks(p);
	if (p->depth >= EXPRESSION_DEPTH_MAX)
		return wrong(p, "more levels than are supported");
	p->depth++;
	if (*p->at == '#') {
		size_t length = 1 + strspn(p->at + 1, LITERAL);
		const char *name = arena_string(p->arena, p->at, length);
		p->at += length;
		result = node(p, (struct expression){ .kind = EXPRESSION_LITERAL, .name = name });
	} else if (*p->at == '-') {
		p->at++;
		result = parse_operand(p);
		result = result ? node(p, (struct expression){ .kind = EXPRESSION_NEGATIVE, .left = result }) : NULL;
	} else if (*p->at == '(') {
		p->at++;
		result = parse_choice(p);
		result = result && !accept(p, ')') ? wrong(p, "')' is missing") : result;
	} else {
		result = parse_word(p);
	}
	p->depth--;
	return result;
}

/* Operators, those that bind least first. */
enum { BINDINGS = 6 };
static const struct {
	const char *signs;
	enum expression_kind kinds[3];
} bindings[BINDINGS] = {
	{ "|", { EXPRESSION_OR } },
	{ "^", { EXPRESSION_XOR } },
	{ "&", { EXPRESSION_AND } },
	{ "<>", { EXPRESSION_LESS, EXPRESSION_GREATER } },
	{ "-+", { EXPRESSION_SUBTRACT, EXPRESSION_ADD } },
	{ "*/%", { EXPRESSION_MULTIPLY, EXPRESSION_DIVIDE, EXPRESSION_MODULO } },
};

static const struct expression *parse_operators(struct parser *p, int binding)
{
	if (binding == BINDINGS)
		return parse_operand(p);
	const struct expression *left = parse_operators(p, binding + 1);
	while (left) {
		skip_blanks(p);
		const char *sign = *p->at ? strchr(bindings[binding].signs, *p->at) : NULL;
		if (!sign)
			return left;
		p->at++;
		const struct expression *right = parse_operators(p, binding + 1);
		left = right ? node(p, (struct expression){
			.kind = bindings[binding].kinds[sign - bindings[binding].signs], .left = left, .right = right }) : NULL;
	}
	return NULL;
}

static bool accept_word(struct parser *p, const char *word)
{
	skip_blanks(p);
	size_t length = symbol_length(p->at);
	bool is = word_is(p, length, word);
	p->at += is ? length : 0;
	return is;
}

/* "a if b else c" or an expression without it. */
static const struct expression *parse_choice(struct parser *p)
{
	const struct expression *left = parse_operators(p, 0);
	if (!left || !accept_word(p, "if"))
		return left;
	const struct expression *condition = parse_operators(p, 0);
	if (!condition)
		return NULL;
	if (!accept_word(p, "else"))
		return wrong(p, "'else' is missing");
	if (p->depth >= EXPRESSION_DEPTH_MAX)
		return wrong(p, "more levels than are supported");
	p->depth++;
	const struct expression *right = parse_choice(p);
	p->depth--;
	return right ? node(p, (struct expression){ .kind = EXPRESSION_IF, .left = left, .right = right, .condition = condition }) : NULL;
}

const struct expression *expression_parse(struct arena *arena, const char *text, struct error *err)
{
	struct parser p = { .arena = arena, .text = text, .at = text, .err = err };
	if (strlen(text) > EXPRESSION_TEXT_MAX) {
		error_set(err, ERROR_LIMIT, "an expression has more than %d bytes", EXPRESSION_TEXT_MAX);
		return NULL;
	}
	const struct expression *result = parse_choice(&p);
	skip_blanks(&p);
	return result && *p.at ? wrong(&p, "an operator is missing") : result;
}
