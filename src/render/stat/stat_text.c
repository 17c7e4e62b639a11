#include "render/stat/stat_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "render/stat/stat_lines.h"

enum { TIME_WIDTH = 6, NUMBER_WIDTH = 18, NAME_WIDTH = 32, UNIT_WIDTH = 4, METRIC_WIDTH = 38 };

/* Of each grain: the heading above intervals, the key in JSON, the width of the label. */
static const struct {
	const char *heading, *key;
	int width;
} grains[] = {
	[STAT_ALL] = { "", NULL, 0 },
	[STAT_CPU] = { "cpu   ", "cpu", 6 },
	[STAT_CORE] = { "core               cpus", "core", 18 },
	[STAT_CLUSTER] = { "cluster              cpus", "cluster", 20 },
	[STAT_CACHE] = { "cache                  cpus", "cache", 22 },
	[STAT_DIE] = { "die          cpus", "die", 12 },
	[STAT_SOCKET] = { "socket cpus", "socket", 6 },
	[STAT_NODE] = { "node   cpus", "node", 6 },
	[STAT_THREAD] = { "            comm-pid    ", "thread", 24 },
};

int stat_label_width(enum stat_grain grain)
{
	return grains[grain].width;
}

const char *stat_label_heading(enum stat_grain grain)
{
	return grains[grain].heading;
}

static bool counts_cpus(enum stat_grain grain)
{
	return grain >= STAT_CORE && grain <= STAT_NODE;
}

static const char *unit_of(const struct stat_table *table, const struct stat_row *row)
{
	const char *unit = table->events->list.items[row->event].unit;
	return unit ? unit : "";
}

static int unit_width(const struct stat_table *table)
{
	int width = UNIT_WIDTH;
	for (size_t i = 0; i < table->events->list.count; i++) {
		const char *unit = table->events->list.items[i].unit;
		if (unit && (int)strlen(unit) > width)
			width = (int)strlen(unit);
	}
	return width;
}

/* Which PMU the name of an event has to show; NULL: none, or the name begins with it. */
static const char *shown_pmu(const struct stat_style *style, const struct event *event, bool core, bool supported)
{
	bool shown = core ? style->with_core : style->with_pmu && supported && event->attr.type != ATTR_TRACEPOINT;
	if (!shown || !event->pmu || strcmp(event->pmu, "tool") == 0 || strncmp(event->name, event->pmu, strlen(event->pmu)) == 0)
		return NULL;
	return event->pmu;
}

static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return !*text;
}

/* The printable name that the row shows; `made` has its text unless that is the event's own. */
static const char *event_name(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct str *made)
{
	const struct event *event = &table->events->list.items[row->event];
	bool core = event->attr.type == ATTR_HARDWARE || event->attr.type == ATTR_HW_CACHE || event->attr.type == ATTR_RAW;
	const char *pmu = shown_pmu(style, event, core, row->state != STAT_NOT_SUPPORTED), *slash = strchr(event->name, '/');
	if (!pmu && is_plain(event->name))
		return event->name;
	if (pmu && slash)
		str_printf(made, "%s%s", pmu, slash);
	else if (pmu)
		str_printf(made, core ? "%2$s/%1$s/" : "%1$s [%2$s]", event->name, pmu);
	else
		str_puts(made, event->name);
	if (made->text)
		text_make_printable(made->text);
	return str_text(made);
}

/* A value in its unit has two decimals, a plain count none. */
static void shown_number(const struct stat_table *table, uint32_t event, double value, const char *thousands, struct str *text)
{
	char digits[64];
	double scale = table->events->list.items[event].scale;
	snprintf(digits, sizeof digits, scale != 1 ? "%.2f" : "%.0f", value * scale);
	size_t whole = strcspn(digits, ".");
	for (size_t i = 0; digits[i]; i++) {
		if (i && i < whole && (whole - i) % 3 == 0 && digits[i - 1] != '-')
			str_puts(text, thousands);
		str_putc(text, digits[i]);
	}
}

static void shown_value(const struct stat_table *table, const struct stat_row *row, const char *thousands, struct str *text)
{
	shown_number(table, row->event, row->value, thousands, text);
}

static double mad_percent(const struct stat_robust *robust, double median)
{
	return median != 0 ? 100 * robust->mad / median : 0;
}

static void text_robust(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct writer *out)
{
	CLEANUP_STR struct str low = { 0 }, high = { 0 };
	shown_number(table, row->event, row->robust.low, style->thousands, &low);
	shown_number(table, row->event, row->robust.high, style->thousands, &high);
	writer_printf(out, "  ( MAD %5.2f%%, 95%%: %s .. %s )", mad_percent(&row->robust, row->value), str_text(&low), str_text(&high));
}

static const char *state_text(enum stat_state state)
{
	return state == STAT_NOT_SUPPORTED ? "<not supported>" : "<not counted>";
}

static double running_percent(const struct stat_row *row)
{
	return row->enabled ? 100.0 * (double)row->running / (double)row->enabled : 100;
}

/* -x and -j have whole percents, as in perf. */
static double whole_percent(const struct stat_row *row)
{
	return floor(running_percent(row));
}

/* Whether the row is that of a core, although rows are by CPU. */
static bool is_core_row(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row)
{
	const struct event_terms *terms = &table->events->list.items[row->event].terms;
	return style->grain == STAT_CPU && style->cores && terms->set & EVENT_TERM_PERCORE && terms->percore;
}

static const char *label_of(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row)
{
	if (!style->labels)
		return "";
	return is_core_row(table, style, row) ? style->core_labels[row->aggregate] : style->labels[row->aggregate];
}

static void text_label(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct writer *out)
{
	const char *label = label_of(table, style, row);
	if (is_core_row(table, style, row))
		writer_printf(out, "%-*s ", grains[STAT_CORE].width, label);
	else if (style->grain == STAT_CPU && *label)
		writer_printf(out, "%-6s ", label);
	else if (style->grain == STAT_THREAD)
		writer_printf(out, "%16s-%-7d ", label, (int)style->tids[row->aggregate]);
	else if (counts_cpus(style->grain))
		writer_printf(out, "%-*s %4u ", grains[style->grain].width, label, row->counters);
}

const char *stat_level_color(enum stat_level level)
{
	static const char *const begins[] = { "", "\033[33m", "\033[35m", "\033[31m", "\033[32m" };
	return begins[level];
}

/* A number, and what follows it, in the column of metrics. */
static int metric_number(const struct stat_metric *metric, struct writer *out)
{
	bool ends = metric->percent || metric->narrow;
	size_t n = writer_fixed(out, metric->value, metric->decimals, ends ? 7 : 8);
	if (ends)
		writer_putc(out, metric->percent ? '%' : ' ');
	return (int)(n + ends);
}

/* As in perf, the escapes are a part of the column's width. */
void stat_text_metric(const struct stat_metric *metric, bool colors, struct writer *out)
{
	if (!metric->known) {
		writer_pad(out, ' ', METRIC_WIDTH);
		return;
	}
	const char *begin = stat_level_color(colors ? metric->level : STAT_LEVEL_NONE), *end = *begin ? "\033[m" : "";
	writer_puts(out, " # ");
	writer_add_styled(out, begin, strlen(begin));
	int n = metric_number(metric, out);
	writer_add_styled(out, end, strlen(end));
	n += 4 + (int)(strlen(begin) + strlen(end));
	writer_putc(out, ' ');
	writer_left(out, metric->unit, METRIC_WIDTH > n ? (unsigned)(METRIC_WIDTH - n) : 0);
}

static void text_value(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct writer *out)
{
	double scale = table->events->list.items[row->event].scale;
	if (row->state != STAT_COUNTED) {
		writer_right(out, state_text(row->state), NUMBER_WIDTH);
	} else if (!*style->thousands) {
		writer_fixed(out, row->value * scale, scale != 1 ? 2 : 0, NUMBER_WIDTH);
	} else {
		CLEANUP_STR struct str value = { 0 };
		shown_value(table, row, style->thousands, &value);
		writer_right(out, str_text(&value), NUMBER_WIDTH);
	}
}

static void print_text(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct writer *out)
{
	CLEANUP_STR struct str name = { 0 };
	const struct event *event = &table->events->list.items[row->event];
	text_label(table, style, row, out);
	text_value(table, style, row, out);
	writer_putc(out, ' ');
	writer_left(out, unit_of(table, row), (unsigned)unit_width(table));
	writer_putc(out, ' ');
	writer_left(out, event_name(table, style, row, &name), NAME_WIDTH);
	if (style->cgroups)
		writer_printf(out, " %-16s", event->cgroup ? event->cgroup : "");
	stat_text_metric(&row->metric, style->colors, out);
}

/* What follows the last metric of a row. */
static void end_text(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct writer *out)
{
	if (style->robust && row->state == STAT_COUNTED)
		text_robust(table, style, row, out);
	else if (style->repeated && row->state == STAT_COUNTED && row->noise_percent != 0)
		writer_printf(out, "  ( +-%6.2f%% )", row->noise_percent);
	if (row->state == STAT_COUNTED && row->running != row->enabled)
		writer_printf(out, "  (%.2f%%)", running_percent(row));
	writer_putc(out, '\n');
}

static void csv_label(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct writer *out)
{
	const char *s = style->separator;
	if (style->grain == STAT_THREAD)
		writer_printf(out, "%s-%d%s", style->labels[row->aggregate], (int)style->tids[row->aggregate], s);
	else if (style->grain != STAT_ALL && *label_of(table, style, row))
		writer_printf(out, "%s%s", label_of(table, style, row), s);
	if (counts_cpus(style->grain))
		writer_printf(out, "%u%s", row->counters, s);
}

static void print_csv(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct writer *out)
{
	CLEANUP_STR struct str value = { 0 }, name = { 0 };
	const char *s = style->separator;
	const struct event *event = &table->events->list.items[row->event];
	csv_label(table, style, row, out);
	if (row->state == STAT_COUNTED)
		shown_value(table, row, "", &value);
	else
		str_puts(&value, state_text(row->state));
	writer_printf(out, "%s%s%s%s%s", str_text(&value), s, unit_of(table, row), s, event_name(table, style, row, &name));
	if (style->cgroups)
		writer_printf(out, "%s%s", s, event->cgroup ? event->cgroup : "");
	if (style->repeated)
		writer_printf(out, "%s%.2f%%", s, style->robust ? mad_percent(&row->robust, row->value) : row->noise_percent);
	writer_printf(out, "%s%" PRIu64 "%s%.2f%s", s, row->running, s, whole_percent(row), s);
	if (row->metric.known && isfinite(row->metric.value))
		writer_printf(out, "%.*f%s%s", row->metric.decimals, row->metric.value, s, row->metric.unit);
	else if (row->metric.known)
		writer_printf(out, "%s%s", s, row->metric.unit);
	else
		writer_puts(out, s);
	if (style->robust) {
		CLEANUP_STR struct str low = { 0 }, high = { 0 };
		shown_number(table, row->event, row->robust.low, "", &low);
		shown_number(table, row->event, row->robust.high, "", &high);
		writer_printf(out, "%s%s%s%s", s, str_text(&low), s, str_text(&high));
	}
	writer_putc(out, '\n');
}

void stat_json_text(struct writer *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			writer_putc(out, '\\');
		writer_putc(out, *text);
	}
}

static void json_label(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct writer *out)
{
	const char *label = label_of(table, style, row);
	bool core = is_core_row(table, style, row);
	if (style->grain == STAT_THREAD || (style->grain != STAT_ALL && *label)) {
		writer_printf(out, "\"%s\" : \"", grains[core ? STAT_CORE : style->grain].key);
		stat_json_text(out, style->grain == STAT_CPU && !core ? label + 3 : label);
		if (style->grain == STAT_THREAD)
			writer_printf(out, "-%d", (int)style->tids[row->aggregate]);
		writer_puts(out, "\", ");
	}
	if (counts_cpus(style->grain))
		writer_printf(out, "\"aggregate-number\" : %u, ", row->counters);
}

static void print_json(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row, struct writer *out)
{
	CLEANUP_STR struct str name = { 0 };
	const struct event *event = &table->events->list.items[row->event];
	json_label(table, style, row, out);
	if (row->state == STAT_COUNTED)
		writer_printf(out, "\"counter-value\" : \"%f\", ", stat_shown(table, row));
	else
		writer_printf(out, "\"counter-value\" : \"%s\", ", state_text(row->state));
	writer_printf(out, "\"unit\" : \"%s\", \"event\" : \"", unit_of(table, row));
	stat_json_text(out, event_name(table, style, row, &name));
	writer_puts(out, "\", ");
	if (style->cgroups) {
		writer_puts(out, "\"cgroup\" : \"");
		stat_json_text(out, event->cgroup ? event->cgroup : "");
		writer_puts(out, "\", ");
	}
	double scale = event->scale;
	if (style->robust)
		writer_printf(out, "\"mad\" : \"%f\", \"interval-low\" : \"%f\", \"interval-high\" : \"%f\", ", row->robust.mad * scale,
			row->robust.low * scale, row->robust.high * scale);
	else if (style->repeated)
		writer_printf(out, "\"variance\" : %.2f, ", row->noise_percent);
	/* a counted event without a metric has the unit "(null)" in perf */
	const char *unit = row->metric.unit ? row->metric.unit : row->state == STAT_COUNTED ? "(null)" : "";
	writer_printf(out, "\"event-runtime\" : %" PRIu64 ", \"pcnt-running\" : %.2f, \"metric-value\" : \"%f\", \"metric-unit\" : \"",
		row->running, whole_percent(row), row->metric.known ? row->metric.value : 0.0);
	stat_json_text(out, unit);
	writer_puts(out, "\"}\n");
}

void stat_label(const struct stat_printing *p, const struct stat_row *row)
{
	if (p->style->format == STAT_TEXT)
		text_label(p->table, p->style, row, p->out);
	else if (p->style->format == STAT_CSV)
		csv_label(p->table, p->style, row, p->out);
	else
		json_label(p->table, p->style, row, p->out);
}

void stat_begin_line(const struct stat_printing *p)
{
	const struct stat_style *style = p->style;
	struct writer *out = p->out;
	uint64_t interval_ns = p->interval_ns, s = interval_ns / 1000000000, ns = interval_ns % 1000000000;
	if (style->format == STAT_JSON)
		writer_putc(out, '{');
	if (!interval_ns) {
		writer_puts(out, style->format == STAT_CSV && !style->metric_only ? p->prefix : "");
		return;
	}
	if (style->format == STAT_JSON)
		writer_puts(out, "\"interval\" : ");
	writer_decimal(out, s, style->format == STAT_TEXT ? TIME_WIDTH : 0);
	writer_putc(out, '.');
	writer_zeros(out, ns, 9);
	writer_puts(out, style->format == STAT_TEXT ? " " : style->format == STAT_CSV ? style->separator : ", ");
}

static bool is_shown(const struct stat_table *table, const struct stat_style *style, const struct stat_row *row)
{
	const struct event *event = &table->events->list.items[row->event];
	bool tool = event->pmu && strcmp(event->pmu, "tool") == 0;
	if (style->hidden && style->hidden[row->event])
		return false;
	if (is_core_row(table, style, row) && style->cores[row->aggregate] != row->aggregate)
		return false;
	return row->value != 0 || row->state == STAT_NOT_SUPPORTED || (!tool && !style->hide_zero);
}

static void print_row(const struct stat_printing *p, const struct stat_row *row)
{
	const struct stat_style *style = p->style;
	struct stat_row shown = *row;
	const struct stat_metric *first = row->metric.known ? NULL : stat_row_metric(p, row, 0);
	size_t used = first ? 1 : 0;
	if (!is_shown(p->table, style, row))
		return;
	if (first)
		shown.metric = *first;
	stat_begin_line(p);
	if (style->format == STAT_TEXT)
		print_text(p->table, style, &shown, p->out);
	else if (style->format == STAT_CSV)
		print_csv(p->table, style, &shown, p->out);
	else
		print_json(p->table, style, &shown, p->out);
	stat_further_metrics(p, row, used);
	if (style->format == STAT_TEXT)
		end_text(p->table, style, row, p->out);
}

/* The first event after this one that has another cgroup. */
static size_t cgroup_end(const struct stat_table *table, size_t event)
{
	const struct event *list = table->events->list.items;
	size_t end = event + 1;
	while (end < table->events->list.count && list[event].cgroup && list[end].cgroup && strcmp(list[event].cgroup, list[end].cgroup) == 0)
		end++;
	return end;
}

static void print_rows(const struct stat_printing *p)
{
	const struct stat_table *table = p->table;
	size_t events = table->events->list.count;
	if (!counts_cpus(p->style->grain)) {
		for (size_t i = 0; i < table->rows.count; i++)
			print_row(p, &table->rows.items[i]);
		return;
	}
	for (size_t first = 0, end; first < events; first = end) {
		end = p->style->by_cgroup ? cgroup_end(table, first) : events;
		for (uint32_t k = 0; k < table->aggregates; k++)
			for (size_t i = first; i < end; i++)
				print_row(p, &table->rows.items[i * table->aggregates + k]);
	}
}

void stat_print(const struct stat_table *table, const struct stat_style *style, uint64_t interval_ns, const char *prefix,
	struct writer *out)
{
	struct stat_metrics metrics = { 0 };
	const struct stat_printing p = {
		.table = table, .style = style, .metrics = &metrics, .interval_ns = interval_ns, .prefix = prefix, .out = out,
	};
	if (style->plan)
		stat_metrics_make(&metrics, table, style->plan);
	if (style->metric_only)
		stat_metrics_alone(&p);
	else
		print_rows(&p);
	stat_metrics_fini(&metrics);
}

void stat_print_metric_names(const struct stat_table *table, const struct stat_style *style, bool intervals, struct writer *out)
{
	struct stat_metrics metrics = { 0 };
	const struct stat_printing p = { .table = table, .style = style, .metrics = &metrics, .interval_ns = intervals, .out = out };
	if (style->plan)
		stat_metrics_make(&metrics, table, style->plan);
	stat_metrics_columns(&p);
	stat_metrics_fini(&metrics);
}

void stat_print_heading(const struct stat_table *table, const struct stat_style *style, struct writer *out)
{
	if (style->metric_only) {
		stat_print_metric_names(table, style, true, out);
		return;
	}
	if (style->format == STAT_TEXT)
		writer_printf(out, "#           time %s%s%*s %*s events\n", grains[style->grain].heading, style->grain == STAT_ALL ? "" : " ",
			NUMBER_WIDTH, "counts", unit_width(table), "unit");
}

static int decimals_of(double spread)
{
	return (spread > 1 || spread <= 0 ? 0 : (int)lround(ceil(-log10(spread)))) + 2;
}

void stat_print_times(const struct stat_spread *elapsed_ns, bool with_usage, uint64_t user_ns, uint64_t system_ns, struct writer *out)
{
	double mean = elapsed_ns->mean / 1e9;
	if (elapsed_ns->runs <= 1) {
		writer_printf(out, " %17.9f seconds time elapsed", mean);
		if (with_usage)
			writer_printf(out, "\n\n %17.9f seconds user\n %17.9f seconds sys\n", (double)user_ns / 1e9, (double)system_ns / 1e9);
	} else {
		double error = stat_spread_error(elapsed_ns) / 1e9;
		int decimals = decimals_of(error);
		writer_printf(out, " %17.*f +- %.*f seconds time elapsed", decimals, mean, decimals, error);
		writer_printf(out, "  ( +-%6.2f%% )", stat_spread_percent(elapsed_ns));
	}
	writer_puts(out, "\n\n");
}

void stat_print_times_robust(const double *runs_ns, size_t count, struct writer *out)
{
	struct stat_robust robust;
	double median = stat_robust_of(runs_ns, count, &robust);
	int decimals = decimals_of(robust.mad / 1e9);
	writer_printf(out, " %17.*f seconds time elapsed, median  ( MAD %5.2f%%, 95%%: %.*f .. %.*f )\n\n", decimals, median / 1e9,
		mad_percent(&robust, median), decimals, robust.low / 1e9, decimals, robust.high / 1e9);
}

void stat_print_runs(const struct stat_spread *elapsed_ns, const double *runs, size_t count, struct writer *out)
{
	enum { MARKS_MAX = 100 };
	int decimals = decimals_of(stat_spread_error(elapsed_ns) / 1e9);
	if (!count)
		return;
	writer_puts(out, "          # Table of individual measurements:\n");
	for (size_t i = 0; i < count; i++) {
		double run = runs[i] / 1e9, away = run - elapsed_ns->mean / 1e9;
		double marks = 1 + floor(fabs(run > 0 ? 100 * away / run : 0) / 5);
		writer_printf(out, " %17.*f (%+.*f) ", decimals, run, decimals, away);
		writer_pad(out, '#', marks < MARKS_MAX ? (size_t)marks : MARKS_MAX);
		writer_putc(out, '\n');
	}
	writer_puts(out, "\n          # Final result:\n");
}
