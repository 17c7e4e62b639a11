/* Annotations as perf's text: perf annotate --stdio. */
#pragma once
#include "analysis/annotate/annotation.h"
#include "analysis/annotate/order.h"
#include "base/writer.h"
#include "data/branch_counters.h"

enum annotate_percent { ANNOTATE_LOCAL_HITS, ANNOTATE_GLOBAL_HITS, ANNOTATE_LOCAL_PERIOD, ANNOTATE_GLOBAL_PERIOD };
enum annotate_value { ANNOTATE_PERCENT, ANNOTATE_PERIOD, ANNOTATE_SAMPLES };

struct annotate_style {
	enum annotate_percent percent;
	enum annotate_value value;
	bool colour;
	bool full_paths;
	bool print_lines;          /* a summary by source line, and the source line of hot instructions */
	bool counts;               /* -v: the samples of each address first */
	bool objdump;              /* the layout of perf annotate --objdump */
	bool raw;                  /* the bytes of instructions */
	struct symbols *symbols;
};

/* One annotation for the events of a group. */
struct annotate_view {
	const struct annotation *annotation;
	const uint32_t *events;
	size_t event_count;
	const char *event_name;    /* of the group */
	const struct hit_count *whole; /* by event: what global percentages refer to */
	const struct branch_counters *counters; /* NULL: absent … */
	const struct blocks *blocks;   /* … of these blocks, sorted */
};

void annotate_text_print(const struct annotate_style *style, const struct annotate_view *view, struct writer *out);

/* The summary of --print-line; shared by the layouts. */
void annotate_summary_print(const struct annotate_style *style, const struct annotate_view *view, struct writer *out);
/* "local period" … */
const char *annotate_percent_name(enum annotate_percent percent);
/* The percentage of one event in a line. */
double annotate_percent_of(const struct annotate_style *style, const struct annotate_view *view, const struct hit_count *count,
	uint32_t event);
/* With style->colour: escapes the text and gives it the colour of a percentage. */
void annotate_colour(const struct annotate_style *style, struct str *text, double percent);
