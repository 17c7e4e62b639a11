/* The options of `diff`. */
#pragma once
#include "analysis/compare/diff.h"
#include "cmd/filter.h"
#include "cmd/format_option.h"
#include "cmd/input.h"

enum diff_method { METHOD_TABLE, METHOD_CYCLES };

struct diff_cli_options {
	struct input_options input;
	struct filter_options filter;
	const char *sort, *separator;
	unsigned order;
	enum diff_compute compute;
	enum diff_method method;
	int64_t old_weight, new_weight;
	bool quiet, dump, baseline_only, show_period, show_formula, cycles_hist, modules, relative, streams;
	bool stats, fail_given;
	double fail_above;           /* percentage points */
	const struct format *format; /* NULL: text */
	const char *bad_config;      /* a value of diff.compute that is no method; NULL: none */
};

extern const struct option diff_table[];
extern const char *const diff_usage[];
void diff_defaults(void *target, const struct cli *cli);
