/* The expressions of metrics: text → tree → value. The language is that of the kernel's JSON metrics ("MetricExpr" of
 * tools/perf/pmu-events): numbers, names, #literals, | ^ & < > + - * / %, unary minus, "a if b else c", min, max, d_ratio, source_count,
 * has_event, strcmp_cpuid_str. In a name "@" is the slash of an event, and a backslash precedes one of "-,=". Knows no event: a caller
 * gives values. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

enum {
	EXPRESSION_TEXT_MAX = 1 << 16,
	EXPRESSION_DEPTH_MAX = 512,      /* levels of the tree */
};

enum expression_kind {
	EXPRESSION_NUMBER, EXPRESSION_NAME, EXPRESSION_LITERAL, EXPRESSION_SOURCES, EXPRESSION_HAS, EXPRESSION_CPUID,
	EXPRESSION_NEGATIVE, EXPRESSION_OR, EXPRESSION_XOR, EXPRESSION_AND, EXPRESSION_LESS, EXPRESSION_GREATER, EXPRESSION_ADD,
	EXPRESSION_SUBTRACT, EXPRESSION_MULTIPLY, EXPRESSION_DIVIDE, EXPRESSION_MODULO, EXPRESSION_MIN, EXPRESSION_MAX, EXPRESSION_RATIO,
	EXPRESSION_IF,
};

struct expression {
	enum expression_kind kind;
	uint32_t depth;                      /* levels below and with this one */
	double number;
	const char *name;                    /* of a name, a literal ("#smt_on") or an argument; without escapes, with slashes */
	const struct expression *left, *right, *condition; /* EXPRESSION_IF: left if condition, else right */
};

/* Where names get their values. Each function may be NULL: then names and literals have no value, and nothing exists. */
struct expression_names {
	void *context;
	double (*value)(void *context, const char *name, double *sources); /* NAN: unknown; *sources: how many counters it is summed of */
	double (*literal)(void *context, const char *name);                /* NAN: unknown */
	bool (*exists)(void *context, const char *name);                   /* whether the machine has the event */
	bool (*is_cpu)(void *context, const char *pattern);                /* whether the processor's id matches */
};

/* The tree is in the arena. NULL: *err names the offset in the text and the reason. */
const struct expression *expression_parse(struct arena *arena, const char *text, struct error *err);
/* Divisions by zero are NAN, of d_ratio 0. */
double expression_value(const struct expression *expression, const struct expression_names *names);

/* The names that the value needs: without those of branches that the literals, the processor and the existing events exclude. Each once,
 * in the order of the text. */
struct expression_needs {
	VEC(const char *) names;
};

void expression_add_needs(const struct expression *expression, const struct expression_names *names, struct expression_needs *needs);
void expression_needs_fini(struct expression_needs *needs);
