/* Annotations as the lines of perf's browser (perf annotate --stdio2): offsets instead of addresses, shown at jump targets; arrows;
 * names of symbols. */
#pragma once
#include "render/annotate/annotate_text.h"

/* The values of the heading. */
struct annotate_heading {
	uint64_t samples, period;  /* of all samples of the events */
	uint64_t frequency;        /* attr.sample_freq */
	bool several;              /* events of a group */
};

void browser_text_print(const struct annotate_style *style, const struct annotate_view *view, const struct annotate_heading *heading,
	struct writer *out);
