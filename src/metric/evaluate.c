#include <math.h>
#include <string.h>

#include "metric/expression.h"

static double value_of(const struct expression_names *names, const char *name, double *sources)
{
	*sources = 0;
	return names->value ? names->value(names->context, name, sources) : NAN;
}

/* As a signed whole number, for the operators of bits; what does not fit is the limit. */
static int64_t whole(double value)
{
	if (isnan(value))
		return 0;
	if (value >= 9223372036854775807.0)
		return INT64_MAX;
	return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

static double modulo(double left, double right)
{
	int64_t divisor = whole(right);
	if (right == 0 || divisor == 0)
		return NAN;
	return divisor == -1 ? 0 : (double)(whole(left) % divisor);
}

static double operate(enum expression_kind kind, double left, double right)
{
	switch (kind) {
	case EXPRESSION_OR: return (double)(whole(left) | whole(right));
	case EXPRESSION_XOR: return (double)(whole(left) ^ whole(right));
	case EXPRESSION_AND: return (double)(whole(left) & whole(right));
	case EXPRESSION_LESS: return left < right;
	case EXPRESSION_GREATER: return left > right;
	case EXPRESSION_ADD: return left + right;
	case EXPRESSION_SUBTRACT: return left - right;
	case EXPRESSION_MULTIPLY: return left * right;
	case EXPRESSION_DIVIDE: return right == 0 ? NAN : left / right;
	case EXPRESSION_MODULO: return modulo(left, right);
	case EXPRESSION_MIN: return left < right ? left : right;
	case EXPRESSION_MAX: return left > right ? left : right;
	case EXPRESSION_RATIO: return right == 0 ? 0 : left / right;
	default: return NAN;
	}
}

double expression_value(const struct expression *e, const struct expression_names *names)
{
	double sources;
	switch (e->kind) {
	case EXPRESSION_NUMBER: return e->number;
	case EXPRESSION_NAME: return value_of(names, e->name, &sources);
	case EXPRESSION_LITERAL: return names->literal ? names->literal(names->context, e->name) : NAN;
	case EXPRESSION_HAS: return names->exists && names->exists(names->context, e->name);
	case EXPRESSION_CPUID: return names->is_cpu && names->is_cpu(names->context, e->name);
	case EXPRESSION_NEGATIVE: return -expression_value(e->left, names);
	case EXPRESSION_IF: return expression_value(expression_value(e->condition, names) != 0 ? e->left : e->right, names);
	case EXPRESSION_SOURCES:
		value_of(names, e->name, &sources);
		return sources;
	default: return operate(e->kind, expression_value(e->left, names), expression_value(e->right, names));
	}
}

/* Whether the value depends on the machine alone. */
static bool is_constant(const struct expression *e)
{
	if (e->kind == EXPRESSION_NAME || e->kind == EXPRESSION_SOURCES)
		return false;
	return (!e->left || is_constant(e->left)) && (!e->right || is_constant(e->right)) && (!e->condition || is_constant(e->condition));
}

static bool is_known(const struct expression *e, const struct expression_names *names, bool truth)
{
	if (!is_constant(e))
		return false;
	double value = expression_value(e, names);
	return !isnan(value) && (value != 0) == truth;
}

static void add_name(struct expression_needs *needs, const char *name)
{
	for (size_t i = 0; i < needs->names.count; i++)
		if (strcmp(needs->names.items[i], name) == 0)
			return;
	vec_push(&needs->names, name);
}

void expression_add_needs(const struct expression *e, const struct expression_names *names, struct expression_needs *needs)
{
	if (e->kind == EXPRESSION_NAME || e->kind == EXPRESSION_SOURCES)
		add_name(needs, e->name);
	if (e->kind == EXPRESSION_IF && (is_known(e->condition, names, true) || is_known(e->condition, names, false))) {
		expression_add_needs(is_known(e->condition, names, true) ? e->left : e->right, names, needs);
		return;
	}
	if (e->kind == EXPRESSION_AND && (is_known(e->left, names, false) || is_known(e->right, names, false)))
		return;
	const struct expression *below[] = { e->left, e->condition, e->right };
	for (size_t i = 0; i < 3; i++)
		if (below[i])
			expression_add_needs(below[i], names, needs);
}

void expression_needs_fini(struct expression_needs *needs)
{
	vec_fini(&needs->names);
}
