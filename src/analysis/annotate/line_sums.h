/* The samples of each source line of a function: the sum over all its instructions, wherever the compiler put them. Needs an annotation
 * with places (annotator_options.places). */
#pragma once
#include "analysis/annotate/annotation.h"

struct line_sum {
	const char *file;          /* borrowed from the annotation */
	uint32_t number;           /* of the line; 0: no line */
	uint32_t instructions;     /* those with samples */
	struct hit_count count;
};

struct line_sums {
	VEC(struct line_sum) items; /* of lines with samples, by file and number */
};

void line_sums_make(struct line_sums *sums, const struct annotation *annotation, uint32_t event);
void line_sums_fini(struct line_sums *sums); /* accepts a zeroed one */
/* The line of an instruction, or a source line; all 0: it has no samples, or is not known. */
struct line_sum line_sums_of(const struct line_sums *sums, const struct annotated_line *line);
/* With the largest period; of equal ones the first. */
struct line_sum line_sums_hottest(const struct line_sums *sums);
