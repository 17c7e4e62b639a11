/* One table of `top --stdio`, as perf prints it: a line about the sampling, then the rows of one event, cut at the terminal's width. */
#pragma once
#include "analysis/entry/entry.h"
#include "base/writer.h"

struct top_heading {
	double samples_per_second, kernel_percent, exact_percent;
	uint64_t lost, lost_before;   /* lost samples: since the last table; before it */
	const char *event;
	uint64_t rate;                /* with it; 0: not shown (several events) */
	bool frequency;               /* the rate is in Hz */
	const char *target;           /* "all, 2 CPUs" */
};

struct top_table {
	const struct profile *profile;
	const struct hist *hist;      /* NULL: no samples yet */
	size_t rows;                  /* at most */
	size_t width;                 /* of a line, in columns */
	float min_percent;
	uint64_t min_count;           /* rows with as many samples or fewer are not shown */
	bool colour;
};

void top_heading_print(const struct top_heading *heading, size_t width, struct writer *out);
/* The number of bytes of a line that fill at most `width` columns; escape sequences of colours need no column. */
size_t top_line_fitting(const char *text, size_t len, size_t width);
void top_table_print(const struct top_table *table, struct writer *out);
