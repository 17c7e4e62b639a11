#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "render/stat/stat_lines.h"

enum { FURTHER_INDENT = 49, CPU_INDENT = 8, CELL_WIDTH = 20, COLOR_WIDTH = 8, CSV_FIELDS = 5 };

const struct stat_metric *stat_row_metric(const struct stat_printing *p, const struct stat_row *row, size_t index)
{
	for (size_t i = 0; i < p->metrics->list.count && row->state == STAT_COUNTED; i++) {
		const struct stat_named_metric *m = &p->metrics->list.items[i];
		if (m->event == row->event && m->aggregate == row->aggregate && index-- == 0)
			return &m->metric;
	}
	return NULL;
}

static void text_line(const struct stat_printing *p, const struct stat_row *row, const struct stat_metric *metric)
{
	writer_putc(p->out, '\n');
	stat_begin_line(p);
	stat_label(p, row);
	writer_pad(p->out, ' ', FURTHER_INDENT + (p->style->grain == STAT_CPU ? CPU_INDENT : 0));
	stat_text_metric(metric, p->style->colors, p->out);
}

static void csv_line(const struct stat_printing *p, const struct stat_row *row, const struct stat_metric *metric)
{
	const char *s = p->style->separator;
	stat_begin_line(p);
	stat_label(p, row);
	for (int i = 0; i < CSV_FIELDS + p->style->cgroups; i++)
		writer_puts(p->out, s);
	if (isfinite(metric->value))
		writer_printf(p->out, "%.*f", metric->decimals, metric->value);
	writer_printf(p->out, "%s%s\n", s, metric->unit);
}

static void json_line(const struct stat_printing *p, const struct stat_row *row, const struct stat_metric *metric)
{
	stat_begin_line(p);
	stat_label(p, row);
	writer_printf(p->out, "\"metric-value\" : \"%f\", \"metric-unit\" : \"", metric->value);
	stat_json_text(p->out, metric->unit);
	writer_puts(p->out, "\"}\n");
}

void stat_further_metrics(const struct stat_printing *p, const struct stat_row *row, size_t index)
{
	const struct stat_metric *metric;
	for (; (metric = stat_row_metric(p, row, index)); index++) {
		if (p->style->format == STAT_TEXT)
			text_line(p, row, metric);
		else if (p->style->format == STAT_CSV)
			csv_line(p, row, metric);
		else
			json_line(p, row, metric);
	}
}

/* Rates and CPUs are not separate metrics. "of all branches" needs the event's name. */
static bool is_column(const struct stat_metric *metric)
{
	return metric->unit && !strstr(metric->unit, "/sec") && !strstr(metric->unit, "CPUs utilized");
}

static void column_name(const struct stat_printing *p, uint32_t event, const char *unit, struct str *out)
{
	if (strncmp(unit, "of all", strlen("of all")) == 0)
		str_printf(out, "%s ", p->table->events->list.items[event].name);
	str_puts(out, unit);
}

/* One column of metrics without counts: the right-hand column of an event, or a metric of the plan. */
typedef void column_action(const struct stat_printing *p, const struct stat_row *row, const struct stat_metric *metric, const char *name,
	void *context);

static void each_column(const struct stat_printing *p, uint32_t aggregate, column_action *action, void *context)
{
	for (uint32_t i = 0; i < p->table->events->list.count; i++) {
		const struct stat_row *row = &p->table->rows.items[(size_t)i * p->table->aggregates + aggregate];
		CLEANUP_STR struct str name = { 0 };
		if (p->style->hidden && p->style->hidden[i])
			continue;
		if (is_column(&row->metric)) {
			column_name(p, i, row->metric.unit, &name);
			action(p, row, &row->metric, name.text, context);
		}
		for (size_t k = 0; k < p->metrics->list.count; k++) {
			const struct stat_named_metric *m = &p->metrics->list.items[k];
			if (m->event == i && m->aggregate == aggregate)
				action(p, row, &m->metric, m->metric.unit, context);
		}
	}
}

static void text_cell(const struct stat_printing *p, const struct stat_row *row, const struct stat_metric *metric, const char *name)
{
	char text[512] = "";
	int width = (int)strlen(name) > CELL_WIDTH ? (int)strlen(name) + 1 : CELL_WIDTH;
	bool known = metric->known && row->state == STAT_COUNTED, colored = known && metric->level != STAT_LEVEL_NONE;
	const char *begin = stat_level_color(colored && p->style->colors ? metric->level : STAT_LEVEL_NONE), *end = *begin ? "\033[m" : "";
	if (known)
		snprintf(text, sizeof text, "%8.*f", metric->decimals, metric->value);
	/* as in perf, a cell with a colour has room for its escapes even if they are not printed */
	width += colored ? COLOR_WIDTH - (int)(strlen(begin) + strlen(end)) : 0;
	writer_pad(p->out, ' ', (size_t)width > strlen(text) ? (size_t)width - strlen(text) : 0);
	writer_add_styled(p->out, begin, strlen(begin));
	writer_puts(p->out, text);
	writer_add_styled(p->out, end, strlen(end));
	writer_putc(p->out, ' ');
}

static void print_cell(const struct stat_printing *p, const struct stat_row *row, const struct stat_metric *metric, const char *name,
	void *context)
{
	bool *any = context, known = metric->known && row->state == STAT_COUNTED && isfinite(metric->value);
	if (p->style->format == STAT_TEXT) {
		text_cell(p, row, metric, name);
	} else if (p->style->format == STAT_CSV) {
		if (known)
			writer_printf(p->out, "%.*f", metric->decimals, metric->value);
		writer_puts(p->out, p->style->separator);
	} else if (known) {
		writer_puts(p->out, *any ? ", \"" : "\"");
		stat_json_text(p->out, name);
		writer_printf(p->out, "\" : \"%.*f\"", metric->decimals, metric->value);
		*any = true;
	}
}

void stat_metrics_alone(const struct stat_printing *p)
{
	for (uint32_t k = 0; k < p->table->aggregates && p->table->rows.count; k++) {
		bool any = false;
		stat_begin_line(p);
		stat_label(p, &p->table->rows.items[k]);
		each_column(p, k, print_cell, &any);
		if (p->style->format == STAT_JSON)
			writer_puts(p->out, any ? "}" : "\"metric-value\" : \"none\"}");
		writer_putc(p->out, '\n');
	}
}

static void print_name(const struct stat_printing *p, const struct stat_row *row, const struct stat_metric *metric, const char *name,
	void *context)
{
	if (p->style->format == STAT_TEXT)
		writer_printf(p->out, "%*s ", CELL_WIDTH, name);
	else
		writer_printf(p->out, "%s%s", name, p->style->separator);
}

/* "cpu," or "core,cpus," and so on, as the columns of the aggregate are; as in perf, nodes lack "cpus". */
static void csv_label_names(const struct stat_printing *p)
{
	const char *heading = stat_label_heading(p->style->grain), *s = p->style->separator;
	while (*heading) {
		size_t length = strcspn(heading, " ");
		if (length)
			writer_printf(p->out, "%.*s%s", (int)length, heading, s);
		if (p->style->grain == STAT_NODE)
			return;
		heading += length + strspn(heading + length, " ");
	}
}

void stat_metrics_columns(const struct stat_printing *p)
{
	enum stat_grain grain = p->style->grain;
	if (p->style->format == STAT_JSON || !p->table->aggregates)
		return;
	if (p->style->format == STAT_CSV) {
		writer_printf(p->out, "%s%s", p->interval_ns ? "time" : "", p->interval_ns ? p->style->separator : "");
		csv_label_names(p);
	} else if (p->interval_ns) {
		writer_printf(p->out, "#           time %s%s", stat_label_heading(grain), grain == STAT_ALL ? "" : " ");
	} else {
		writer_pad(p->out, ' ', (size_t)stat_label_width(grain) + 1);
	}
	each_column(p, 0, print_name, NULL);
	writer_putc(p->out, '\n');
}
