#include "metric/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

static double test_value(void *context, const char *name, double *sources)
{
	*sources = 3;
	if (strcmp(name, "a") == 0)
		return 7;
	if (strcmp(name, "b.c:u/x=1,y-z/") == 0)
		return 4;
	return NAN;
}

static double test_literal(void *context, const char *name)
{
	return strcmp(name, "#smt_on") == 0 ? 1 : strcmp(name, "#num_cpus") == 0 ? 8 : NAN;
}

static bool test_exists(void *context, const char *name)
{
	return strcmp(name, "a") == 0;
}

static bool test_is_cpu(void *context, const char *pattern)
{
	return strcmp(pattern, "0x41") == 0;
}

static const struct expression_names test_names = {
	.value = test_value, .literal = test_literal, .exists = test_exists, .is_cpu = test_is_cpu,
};

static double value(const char *text)
{
	struct arena arena = { 0 };
	struct error err = { 0 };
	const struct expression *e = expression_parse(&arena, text, &err);
	double result = e ? expression_value(e, &test_names) : -12345;
	if (!e)
		unit_fail(__FILE__, __LINE__, "%s: %s", text, err.text);
	arena_fini(&arena);
	return result;
}

#define EXPECT_VALUE(text, want) EXPECT(value(text) == (double)(want))

TEST("operators bind as in the kernel's metrics")
{
	EXPECT_VALUE("1 + 2 * 3", 7);
	EXPECT_VALUE("10 - 4 - 3", 3);
	EXPECT_VALUE("-2 * -3 - -1", 7);
	EXPECT_VALUE("100 / 10 / 5 % 7", 2);
	EXPECT_VALUE("1 | 2 ^ 6 & 3", 1 | (2 ^ (6 & 3)));
	EXPECT_VALUE("1 + 1 < 3 & 1", 1);
	EXPECT_VALUE("3 > 2 > 1", 0);
	EXPECT_VALUE("-3.9 | 0", -3);
	EXPECT_VALUE("7.9 % 4.9", 3);
	EXPECT_VALUE(".5 + 1.e1 + 2e-1 + 1.5e1", 25.7);
	EXPECT_VALUE("min(3, max(1, 2)) + d_ratio(6, 4)", 3.5);
}

TEST("a condition chooses, and chains to the right")
{
	EXPECT_VALUE("1 if 0 else 2 if 0 else 3", 3);
	EXPECT_VALUE("1 if a > 6 else 2", 1);
	EXPECT_VALUE("(1 if 2 < 1 else 4) * 2", 8);
	EXPECT_VALUE("1 + 1 if #smt_on else 5", 2);
	EXPECT_VALUE("max(1 if 1 else 2, 0)", 1);
}

TEST("names have escapes and slashes, literals a sign")
{
	EXPECT_VALUE("b.c:u@x\\=1\\,y\\-z@ * 2", 8);
	EXPECT_VALUE("a-a", 0);
	EXPECT_VALUE("#num_cpus / 2", 4);
	EXPECT_VALUE("source_count(a)", 3);
	EXPECT_VALUE("has_event(a) + 2 * has_event(z)", 1);
	EXPECT_VALUE("strcmp_cpuid_str(0x41) + 2 * strcmp_cpuid_str(0x42)", 1);
	EXPECT(isnan(value("#other")));
	EXPECT(isnan(value("z + 1")));
}

TEST("a division by zero is not a number, that of d_ratio is 0")
{
	EXPECT(isnan(value("1 / 0")));
	EXPECT(isnan(value("0 / (a - 7)")));
	EXPECT(isnan(value("1 % 0")));
	EXPECT(isnan(value("1 % 0.5")));
	EXPECT_VALUE("d_ratio(1, 0)", 0);
	EXPECT_VALUE("-9223372036854775808 % -1", 0);
}

static void expect_wrong(const char *text, const char *sentence)
{
	struct arena arena = { 0 };
	struct error err = { 0 };
	EXPECT(!expression_parse(&arena, text, &err));
	EXPECT_STR(err.text, sentence);
	arena_fini(&arena);
}

TEST("an error names its place")
{
	expect_wrong("", "an operand is missing at the end of the expression, offset 0");
	expect_wrong("1 + ", "an operand is missing at the end of the expression, offset 4");
	expect_wrong("1 + * 2", "an operand is missing at offset 4 of the expression, before '* 2'");
	expect_wrong("(1 + 2", "')' is missing at the end of the expression, offset 6");
	expect_wrong("1 2", "an operator is missing at offset 2 of the expression, before '2'");
	expect_wrong("1 if 2", "'else' is missing at the end of the expression, offset 6");
	expect_wrong("if 2", "an operand is missing at offset 0 of the expression, before 'if 2'");
	expect_wrong("min(1)", "',' is missing at offset 5 of the expression, before ')'");
	expect_wrong("source_count(1 + 2)", "')' is missing at offset 15 of the expression, before '+ 2)'");
	expect_wrong("a\\", "an operator is missing at offset 1 of the expression, before '\\'");
	expect_wrong(")", "an operand is missing at offset 0 of the expression, before ')'");
}

static char *repeated(const char *text, size_t times, const char *end)
{
	size_t length = strlen(text);
	char *result = malloc(length * times + strlen(end) + 1);
	for (size_t i = 0; i < times; i++)
		memcpy(result + i * length, text, length);
	strcpy(result + length * times, end);
	return result;
}

TEST("levels are limited, in all directions")
{
	static const char *const texts[][2] = { { "(", "1" }, { "-", "1" }, { "1 + ", "1" }, { "1 if 0 else ", "1" }, { "min(", "1" } };
	struct arena arena = { 0 };
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct error err = { 0 };
		char *text = repeated(texts[i][0], EXPRESSION_DEPTH_MAX + 1, texts[i][1]);
		EXPECT(!expression_parse(&arena, text, &err));
		EXPECT(strncmp(err.text, "more levels than are supported", 30) == 0);
		free(text);
	}
	char *most = repeated("1 + ", EXPRESSION_DEPTH_MAX - 1, "1");
	EXPECT(value(most) == EXPRESSION_DEPTH_MAX);
	free(most);
	arena_fini(&arena);
}

static void expect_needs(const char *text, const char *want)
{
	struct arena arena = { 0 };
	struct expression_needs needs = { 0 };
	char got[256] = "";
	const struct expression *e = expression_parse(&arena, text, NULL);
	EXPECT(e != NULL);
	if (e)
		expression_add_needs(e, &test_names, &needs);
	for (size_t i = 0; i < needs.names.count; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", needs.names.items[i]);
	EXPECT_STR(got, want);
	expression_needs_fini(&needs);
	arena_fini(&arena);
}

TEST("excluded branches need no events")
{
	expect_needs("x / y + x * source_count(z)", "x y z ");
	expect_needs("x if #smt_on else y", "x ");
	expect_needs("x if has_event(z) else y", "y ");
	expect_needs("x if #unknown else y", "x y ");
	expect_needs("x if w else y", "x w y ");
	expect_needs("(x if 0 > #smt_on else y) + min(x1, x2)", "y x1 x2 ");
	expect_needs("(x > 1) & #smt_on | 0", "x ");
	expect_needs("(x > 1) & (#smt_on < 1)", "");
	expect_needs("#smt_on | x", "x "); /* the bits of x count */
}
