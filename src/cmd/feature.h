/* Built-in features, under the names by which perf's users ask (`version --build-options`, `check feature`). */
#pragma once
#include <stdbool.h>

#include "base/writer.h"

struct feature {
	const char *name, *macro;
	bool built_in; /* perfuse has the function that this feature gives perf, with any library */
};

extern const struct feature features[]; /* ends with a NULL name */

const struct feature *feature_find(const char *name, size_t length); /* by name or macro, in any case; NULL: unknown */
void feature_write(const struct feature *feature, struct writer *out);
