/* The parts of lines that counts and metrics share. Internal to render/stat. */
#pragma once
#include "render/stat/stat_text.h"

/* One call of stat_print. */
struct stat_printing {
	const struct stat_table *table;
	const struct stat_style *style;
	const struct stat_metrics *metrics;
	uint64_t interval_ns;
	const char *prefix;
	struct writer *out;
};

/* The begin of each line: the time, and for JSON the brace. */
void stat_begin_line(const struct stat_printing *p);
/* The aggregate of a line, in the columns or members of the format. */
void stat_label(const struct stat_printing *p, const struct stat_row *row);
/* The metric in the right-hand column of a text. */
void stat_text_metric(const struct stat_metric *metric, bool colors, struct writer *out);
/* The width of the aggregates of a text, and their heading above intervals. */
int stat_label_width(enum stat_grain grain);
const char *stat_label_heading(enum stat_grain grain);
/* Escapes what JSON does not allow in a text. */
void stat_json_text(struct writer *out, const char *text);
/* The escape that begins the colour of a level; "": none. */
const char *stat_level_color(enum stat_level level);

/* The metric number `index` of the plan that the row shows; NULL: no further metric. */
const struct stat_metric *stat_row_metric(const struct stat_printing *p, const struct stat_row *row, size_t index);
/* Lines for the metrics of the row from number `index` on. The last line of a text remains open. */
void stat_further_metrics(const struct stat_printing *p, const struct stat_row *row, size_t index);
/* All metrics of an aggregate in a line. */
void stat_metrics_alone(const struct stat_printing *p);
/* The names of their columns. */
void stat_metrics_columns(const struct stat_printing *p);
