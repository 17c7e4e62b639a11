/* The recording's header as `report --header-only`, `script --header-only` and `--header` print it.
 * Knows the names of the features and their layout; data/feature decodes them. */
#pragma once
#include <stdbool.h>

#include "base/writer.h"
#include "data/attr_text.h"
#include "data/source.h"

/* The whole block, from "# ========" to "# ========" and "#". full: -I. A pipe's features are not in it: they arrive as records,
 * see header_print_feature. names: of the running machine, may be NULL. */
void header_print(const struct source *source, bool full, const struct attr_names *names, struct writer *out);

/* The lines of one HEADER_FEATURE record of a pipe, which source_next has just returned (and applied to the header). Prints nothing
 * for other records. */
void header_print_feature(const struct source *source, const struct record *record, bool full, const struct attr_names *names,
	struct writer *out);
