/* A timechart as a picture that stands alone: a lane for each CPU and each chosen task, with a script that zooms and explains.
 *
 * A lane's bars are paths "M{x} {y}v{h}h{w}v-{h}z" in units of a millionth of the time and a thousandth of the lane's height. A bar
 * of less than a unit, and one that several short ones share, has its full time as width × height. */
#pragma once
#include "analysis/timechart/timechart.h"
#include "base/writer.h"

enum { TIMECHART_SVG_UNITS = 1000000,
	TIMECHART_SVG_HEIGHT = 1000, TIMECHART_SVG_WIDTH = 1000, TIMECHART_SVG_WIDTH_MIN = 400,
	TIMECHART_SVG_WIDTH_MAX = 100000 };

struct timechart_svg {
	const struct timechart *chart;
	const char *facts;
	unsigned width;              /* pixels of the page, TIMECHART_SVG_WIDTH_MIN to TIMECHART_SVG_WIDTH_MAX */
	bool no_power;               /* without idle states and clocks */
	bool skip_again;             /* without calls that failed with EAGAIN */
	uint64_t highlight_ns;       /* turns at least this long have another colour; 0: none */
	const char *highlight_name;  /* and turns of tasks whose name contains this; NULL: none */
	const int32_t *cpus;         /* their order */
	size_t cpu_count;
};

void timechart_svg_write(struct writer *out, const struct timechart_svg *svg);
