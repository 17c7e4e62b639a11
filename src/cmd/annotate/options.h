/* The options of `annotate`. */
#pragma once
#include "analysis/filter/sample_filter.h"
#include "cmd/command.h"
#include "cmd/filter.h"
#include "cmd/format_option.h"
#include "cmd/input.h"
#include "cmd/view_option.h"
#include "decode/itrace.h"
#include "render/annotate/annotate_text.h"

struct annotate_options {
	struct input_options input;
	struct filter_options filter; /* dsos, cpus */
	struct itrace itrace;
	const struct format *format;
	const char *type;         /* --data-type=: the only one that is shown; NULL: all */
	const char *symbol, *style, *prefix, *prefix_strip, *objdump, *addr2line;
	enum annotate_percent percent;
	double percent_limit;
	enum colour_option colour;
	bool stdio, stdio2, tui, hottest, quiet, dump, modules, print_lines, full_paths, skip_missing, skip_empty;
	bool group, group_given, source, source_given, raw, raw_given, show_period, show_samples, inlined;
	bool types, type_statistics, instruction_statistics;
};

extern const struct option annotate_table[];
extern const char *const annotate_usage[];
void annotate_defaults(void *target, const struct cli *cli);
