#include "render/stat/runs_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 24, VALUE_WIDTH = 24 };

static void add_value(const struct run_series *series, enum run_side side, struct writer *out)
{
	char text[64];
	double median = series->median[side], spread = median ? 100 * series->mad[side] / fabs(median) : 0;
	if (!series->values[side].count)
		snprintf(text, sizeof text, "-");
	else if (*series->unit || median != floor(median))
		snprintf(text, sizeof text, "%.2f (+-%.1f%%)", median, spread);
	else
		snprintf(text, sizeof text, "%.0f (+-%.1f%%)", median, spread);
	writer_printf(out, "  %*s", VALUE_WIDTH, text);
}

static void add_change(const struct run_series *series, bool colour, struct writer *out)
{
	char text[80];
	const char *on = !colour || !series->changed ? "" : series->change > 0 ? "\033[31m" : "\033[32m";
	if (!series->compared)
		return;
	if (!isfinite(series->change))
		snprintf(text, sizeof text, "    from 0");
	else
		snprintf(text, sizeof text, "%+9.2f%%  [%+.2f%%, %+.2f%%]", 100 * series->change, 100 * series->interval.low,
			100 * series->interval.high);
	writer_add_styled(out, on, strlen(on));
	writer_printf(out, "  %-32s  %s  p=%.3f", text, series->changed ? "*" : "~", series->probability);
	if (*on)
		writer_add_styled(out, "\033[m", 3);
}

static void add_names(const char *const names[RUN_SIDES], struct writer *out)
{
	static const char letters[] = { 'A', 'B' };
	for (int side = 0; side < RUN_SIDES; side++) {
		writer_printf(out, "# %c: ", letters[side]);
		writer_name(out, names[side], strlen(names[side]));
		writer_putc(out, '\n');
	}
}

void runs_text_print(const struct runs *runs, const char *const names[RUN_SIDES], bool colour, struct writer *out)
{
	size_t count = runs->list.count ? runs->list.items[0].values[RUN_A].count : 0;
	add_names(names, out);
	writer_printf(out, "# %zu runs of A. Medians, change with 95%% interval. *: changed   ~: no more than noise, or below 0.5%%\n#\n", count);
	writer_printf(out, "# %-*s  %*s  %*s      change\n", NAME_WIDTH - 2, "counter", VALUE_WIDTH, "A", VALUE_WIDTH, "B");
	for (size_t i = 0; i < runs->list.count; i++) {
		const struct run_series *series = &runs->list.items[i];
		CLEANUP_STR struct str name = { 0 };
		str_printf(&name, "%s%s%s", series->name, *series->unit ? ", " : "", series->unit);
		text_join_lines(name.text, name.len);
		writer_printf(out, "%-*s", NAME_WIDTH, str_text(&name));
		add_value(series, RUN_A, out);
		add_value(series, RUN_B, out);
		add_change(series, colour, out);
		writer_putc(out, '\n');
	}
}
