/* The code of a function with the samples of each recording of a comparison. The recordings are read again, once, when the first function
 * is asked for. */
#pragma once
#include "analysis/filter/sample_filter.h"
#include "cmd/diff/options.h"
#include "render/tui/snapshot.h"

/* A recording of the comparison. */
struct diff_recording {
	const struct input_options *input;
	const struct sample_filter *filter;
};

struct diff_code;

/* All is borrowed. */
struct diff_code *diff_code_new(struct cli *cli, const struct diff_recording *recordings, uint32_t count);
void diff_code_free(struct diff_code *code); /* NULL is allowed */
/* The lines of the function of a row, as code_page_join makes them. NULL: *err has the reason; with lines, *err may be a remark. */
struct snapshot *diff_code_show(struct diff_code *code, const struct snapshot *shot, uint32_t row, struct error *err);
