/* annotate --data-type: samples by the type of the memory that instructions access. */
#pragma once
#include "analysis/annotate/hits.h"
#include "analysis/annotate/order.h"
#include "cmd/annotate/options.h"

struct annotate_types {
	struct cli *cli;
	const struct annotate_options *options;
	struct input *input;
	const struct hits *hits;
	struct annotate_style style;
	bool browses;
};

/* Prints all of it: as text, as tables, or on the terminal. Returns the number of types. */
size_t annotate_types_print(const struct annotate_types *run);
/* --type-stat, --insn-stat; types NULL: nothing was looked up. */
struct data_types;
void annotate_types_statistics(const struct annotate_options *options, const struct data_types *types, struct writer *out);
