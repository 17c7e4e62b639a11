#include "render/text/diff_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "data/evsel_name.h"
#include "render/text/percent.h"
#include "render/text/row_text.h"

enum { CELL_MAX = 70, BASELINE_WIDTH = 8 };

/* The columns of one file. */
enum diff_column { COLUMN_BASELINE, COLUMN_CHANGE, COLUMN_FORMULA, COLUMN_PERIOD, COLUMN_BASE_PERIOD, COLUMN_INTERVAL, COLUMN_MARK,
	COLUMN_SPREAD };

static const char *title_of(const struct diff *diff, enum diff_column column)
{
	static const char *const changes[] = {
		[DIFF_DELTA] = "Delta", [DIFF_DELTA_ABS] = "Delta Abs", [DIFF_RATIO] = "Ratio", [DIFF_WEIGHTED] = "Weighted diff",
		[DIFF_CYCLES] = "[Program Block Range] Cycles Diff",
	};
	static const char *const titles[] = {
		[COLUMN_BASELINE] = "Baseline", [COLUMN_FORMULA] = "Formula", [COLUMN_PERIOD] = "Period", [COLUMN_BASE_PERIOD] = "Base period",
		[COLUMN_INTERVAL] = "95% interval", [COLUMN_MARK] = "?", [COLUMN_SPREAD] = "stddev/Hist",
	};
	return column == COLUMN_CHANGE ? changes[diff->options.compute] : titles[column];
}

static unsigned least_width(const struct diff *diff, enum diff_column column)
{
	enum { DELTA_WIDTH = 7, NUMBER_WIDTH = 14, INTERVAL_WIDTH = 19, SPREAD_WIDTH = 17 };
	switch (column) {
	case COLUMN_BASELINE:
		return BASELINE_WIDTH;
	case COLUMN_CHANGE:
		return diff->options.compute == DIFF_CYCLES ? CELL_MAX : diff->options.compute <= DIFF_DELTA_ABS ? DELTA_WIDTH : NUMBER_WIDTH;
	case COLUMN_FORMULA:
		return CELL_MAX;
	case COLUMN_SPREAD:
		return SPREAD_WIDTH;
	case COLUMN_INTERVAL:
		return INTERVAL_WIDTH;
	case COLUMN_MARK:
		return 1;
	default:
		return NUMBER_WIDTH;
	}
}

/* Passes each column of the comparison, in order. */
typedef void column_visitor(void *context, uint32_t file, enum diff_column column);

static void each_column(const struct diff_text *text, column_visitor *visit, void *context)
{
	for (uint32_t file = 0; file < text->diff->file_count; file++) {
		visit(context, file, file ? COLUMN_CHANGE : COLUMN_BASELINE);
		if (text->significance && file) {
			visit(context, file, COLUMN_INTERVAL);
			visit(context, file, COLUMN_MARK);
		}
		if (text->show_spread && file)
			visit(context, file, COLUMN_SPREAD);
		if (text->show_formula && file)
			visit(context, file, COLUMN_FORMULA);
		if (text->show_periods)
			visit(context, file, file ? COLUMN_PERIOD : COLUMN_BASE_PERIOD);
	}
}

/* "Delta Abs", or "Delta Abs/2" if there are several. */
static void column_title(const struct diff *diff, uint32_t file, enum diff_column column, struct str *title)
{
	str_puts(title, title_of(diff, column));
	if (diff->file_count > 2)
		str_printf(title, "/%u", file);
}

static unsigned width_of(const struct diff *diff, uint32_t file, enum diff_column column)
{
	CLEANUP_STR struct str title = { 0 };
	column_title(diff, file, column, &title);
	unsigned least = least_width(diff, column);
	return title.len > least ? (unsigned)title.len : least;
}

/* One line that is being made: a header or a row. */
struct line {
	const struct diff_text *text;
	const struct diff_event *event;
	const struct diff_row *row;    /* NULL: the header */
	const char *separator;
	size_t block;                  /* DIFF_CYCLES: of the row, in order */
	bool first;
	struct str *out;
};

static void begin_cell(struct line *line)
{
	if (!line->first)
		str_puts(line->out, line->separator ? line->separator : "  ");
	line->first = false;
}

static void end_cell(struct line *line, size_t start, size_t width)
{
	for (size_t len = line->out->len - start; len < width; len++)
		str_putc(line->out, ' ');
}

static void add_title(void *context, uint32_t file, enum diff_column column)
{
	struct line *line = context;
	CLEANUP_STR struct str title = { 0 };
	begin_cell(line);
	column_title(line->text->diff, file, column, &title);
	str_printf(line->out, "%*s", (int)width_of(line->text->diff, file, column), str_text(&title));
}

static void add_dots(void *context, uint32_t file, enum diff_column column)
{
	struct line *line = context;
	begin_cell(line);
	for (unsigned i = width_of(line->text->diff, file, column); i; i--)
		str_putc(line->out, '.');
}

/* The base of percentages as the formula shows it. */
static uint64_t formula_total(const struct line *line, uint32_t file)
{
	return file ? line->event->sides[file].total : line->event->base_total;
}

static void formula_text(const struct line *line, uint32_t file, char text[static CELL_MAX])
{
	const struct diff_options *options = &line->text->diff->options;
	uint64_t before = diff_base_period(line->row), after = line->row->items[file]->period;
	switch (options->compute) {
	case DIFF_RATIO:
		snprintf(text, CELL_MAX, "%.0F / %.0F", (double)after, (double)before);
		break;
	case DIFF_WEIGHTED:
		snprintf(text, CELL_MAX, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")", after, options->new_weight, before,
			options->old_weight);
		break;
	default:
		snprintf(text, CELL_MAX, "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")", after,
			formula_total(line, file), before, formula_total(line, 0));
	}
}

/* Between separators numbers without a value are a blank. */
static void separated_change(const struct line *line, uint32_t file, char text[static CELL_MAX])
{
	const struct diff_value *value = &line->row->values[file];
	enum diff_compute compute = line->text->diff->options.compute;
	if (compute <= DIFF_DELTA_ABS)
		snprintf(text, CELL_MAX, "%+4.2F%%", value->change);
	else if (diff_row_is_new(line->row))
		snprintf(text, CELL_MAX, "N/A");
	else if (compute == DIFF_RATIO && value->change > 0)
		snprintf(text, CELL_MAX, "%14.6F", value->change);
	else if (compute == DIFF_WEIGHTED && value->weighted)
		snprintf(text, CELL_MAX, "%14" PRId64, value->weighted);
}

static void add_coloured(struct str *out, bool colour, double value, const char *text)
{
	const char *on = colour ? percent_colour(value) : "";
	str_printf(out, "%s%s%s", on, text, *on ? "\033[m" : "");
}

static void add_change(struct line *line, uint32_t file, int width)
{
	const struct diff_value *value = &line->row->values[file];
	enum diff_compute compute = line->text->diff->options.compute;
	char text[CELL_MAX];
	double number = value->change;
	if (compute <= DIFF_DELTA_ABS) {
		snprintf(text, sizeof text, "%+*.2f%%", width - 1, number);
	} else if (diff_row_is_new(line->row)) {
		str_printf(line->out, "%*s", width, "N/A");
		return;
	} else if (compute == DIFF_RATIO) {
		snprintf(text, sizeof text, "%*.6f", width, number);
	} else {
		number = (double)value->weighted;
		snprintf(text, sizeof text, "%14" PRId64, value->weighted);
	}
	add_coloured(line->out, line->text->colour, number, text);
}

static void add_baseline(struct line *line, int width)
{
	uint64_t total = line->event->base_total;
	double percent = 100.0 * (double)diff_base_period(line->row) / (double)total;
	char text[CELL_MAX];
	if (diff_row_is_new(line->row)) {
		str_printf(line->out, "%*s", line->separator ? 1 : width, " ");
		return;
	}
	if (line->separator) {
		str_printf(line->out, "%.2f", percent);
		return;
	}
	snprintf(text, sizeof text, "%*.2f%%", width - 1, percent);
	add_coloured(line->out, line->text->colour, percent, text);
}

/* '*': changed; '~': noise is as large. */
static void tested_text(const struct line *line, uint32_t file, enum diff_column column, char text[static CELL_MAX])
{
	size_t event = (size_t)(line->event - line->text->diff->events), row = (size_t)(line->row - line->event->rows);
	const struct significance_value *value = &line->text->significance->values[event][row][file];
	if (column == COLUMN_MARK)
		snprintf(text, CELL_MAX, "%s", value->changed ? "*" : "~");
	else
		snprintf(text, CELL_MAX, "%+.2f%% .. %+.2f%%", value->interval.low, value->interval.high);
}

static void add_block(struct line *line, uint32_t file, int width)
{
	CLEANUP_STR struct str text = { 0 };
	if (line->row->items[file]) {
		const struct diff_block *block = &line->row->blocks[file].items[line->block];
		str_printf(&text, "%s %4" PRId64, block->range, block->change);
	}
	str_printf(line->out, "%*s", line->separator ? 1 : width, str_text(&text));
}

/* "±  5.3% ▁▃█": the relative standard error of the differences of the first runs, and each of them as a bar. */
static void add_spread(struct line *line, uint32_t file, int width)
{
	enum { RUNS = sizeof ((struct diff_block *)0)->spread / sizeof(uint64_t), BARS = 8 };
	const struct diff_block *block = line->row->items[file] ? &line->row->blocks[file].items[line->block] : NULL;
	uint64_t least = UINT64_MAX, most = 0;
	double sum = 0, squares = 0;
	for (unsigned i = 0; block && i < block->spread_count; i++) {
		least = block->spread[i] < least ? block->spread[i] : least;
		most = block->spread[i] > most ? block->spread[i] : most;
		sum += (double)block->spread[i];
	}
	if (!block || line->separator || block->spread_count < 2 || !most) {
		str_printf(line->out, "%*s", line->separator ? 1 : width, " ");
		return;
	}
	unsigned count = block->spread_count;
	for (unsigned i = 0; i < count; i++)
		squares += ((double)block->spread[i] - sum / count) * ((double)block->spread[i] - sum / count);
	CLEANUP_STR struct str text = { 0 };
	str_printf(&text, "\u00b1%5.1f%% ", 100.0 * sqrt(squares / (count - 1) / count) / (sum / count));
	uint64_t step = ((most - least) << 8) / (BARS - 1);
	for (unsigned i = 0; i < count; i++) /* U+2581 and the seven after it */
		str_printf(&text, "\xe2\x96%c", 0x81 + (int)(((block->spread[i] - least) << 8) / (step ? step : 1)));
	str_putc(&text, ' ');
	str_printf(line->out, "%*s%*s", width, str_text(&text), (int)(RUNS - count), "");
}

static void add_value(struct line *line, uint32_t file, enum diff_column column, int width)
{
	const struct diff_row *row = line->row;
	char text[CELL_MAX] = " ";
	if (column == COLUMN_CHANGE && row->blocks) {
		add_block(line, file, width);
		return;
	}
	if (column == COLUMN_SPREAD) {
		add_spread(line, file, width);
		return;
	}
	if (column == COLUMN_BASELINE) {
		add_baseline(line, width);
		return;
	}
	if (column == COLUMN_CHANGE && row->items[file] && !line->separator) {
		add_change(line, file, width);
		return;
	}
	if (column == COLUMN_INTERVAL || column == COLUMN_MARK)
		tested_text(line, file, column, text);
	else if (column == COLUMN_BASE_PERIOD)
		snprintf(text, sizeof text, "%" PRIu64, diff_base_period(row));
	else if (row->items[file] && column == COLUMN_CHANGE)
		separated_change(line, file, text);
	else if (row->items[file] && column == COLUMN_FORMULA && !row->blocks)
		formula_text(line, file, text);
	else if (row->items[file] && column == COLUMN_PERIOD)
		snprintf(text, sizeof text, "%" PRIu64, row->items[file]->period);
	str_printf(line->out, "%*s", line->separator ? 1 : width, text);
}

static void add_cell(void *context, uint32_t file, enum diff_column column)
{
	struct line *line = context;
	unsigned width = width_of(line->text->diff, file, column);
	begin_cell(line);
	size_t start = line->out->len;
	add_value(line, file, column, (int)width);
	end_cell(line, start, width);
}

/* The columns by which rows are distinguished follow those of the comparison. */
static const struct column *key_column(const struct diff_text *text, size_t i)
{
	const struct columns *columns = text->diff->profiles[0]->options.columns;
	const struct column *column = i < columns->fields.count ? &columns->all.items[columns->fields.items[i]] : NULL;
	return column && column->type->class != COLUMN_MEASURE && !column->elided ? column : NULL;
}

static size_t field_count(const struct diff_text *text)
{
	return text->diff->profiles[0]->options.columns->fields.count;
}

static void add_headers(const struct diff_text *text, const struct diff_event *event, struct writer *out)
{
	const struct profile *profile = text->diff->profiles[0];
	CLEANUP_STR struct str header = { 0 };
	struct line line = { .text = text, .event = event, .separator = profile->options.separator, .first = true, .out = &header };
	each_column(text, add_title, &line);
	for (size_t i = 0; i < field_count(text); i++)
		if (key_column(text, i)) {
			begin_cell(&line);
			header_text_add(profile, &event->widths, key_column(text, i), &header);
		}
	writer_printf(out, "# %s\n", str_text(&header));
	if (line.separator)
		return;
	str_clear(&header);
	line.first = true;
	each_column(text, add_dots, &line);
	for (size_t i = 0; i < field_count(text); i++)
		if (key_column(text, i)) {
			begin_cell(&line);
			for (unsigned width = column_width(profile, &event->widths, key_column(text, i)); width; width--)
				str_putc(&header, '.');
		}
	writer_printf(out, "# %s\n#\n", str_text(&header));
}

static void add_row(const struct diff_text *text, const struct diff_event *event, const struct diff_row *row, size_t block,
	struct str *out)
{
	const struct profile *profile = text->diff->profiles[row->shown->file];
	struct line line = {
		.text = text, .event = event, .row = row, .separator = profile->options.separator, .block = block, .first = true, .out = out,
	};
	str_clear(out);
	if (!line.separator) /* where reports have a mark of the row's kind */
		str_puts(out, "  ");
	each_column(text, add_cell, &line);
	size_t fields = field_count(text);
	for (size_t i = 0; i < fields; i++) {
		const struct column *column = key_column(text, i);
		if (!column)
			continue;
		begin_cell(&line);
		size_t start = out->len, width = column_width(profile, &event->widths, column);
		entry_cell_add(profile, &event->widths, column, row->shown->entry, text->colour, out);
		if (i + 1 < fields)
			end_cell(&line, start, width);
	}
	str_putc(out, '\n');
}

static void add_files(const struct diff_text *text, struct writer *out)
{
	writer_puts(out, "# Data files:\n");
	for (uint32_t i = 0; i < text->diff->file_count; i++)
		writer_printf(out, "#  [%u] %s %s\n", i, text->paths[i], i ? "" : "(Baseline)");
	writer_puts(out, "#\n");
}

/* The lines of a row: one, or one for each block; as in perf, no more than the baseline has blocks, and one without a block if the row is
 * only in the baseline. */
static size_t line_count(const struct diff_text *text, const struct diff_row *row)
{
	bool others = false;
	if (!row->blocks)
		return 1;
	size_t count = row->items[0] ? row->blocks[0].count : SIZE_MAX;
	for (uint32_t file = 1; file < text->diff->file_count; file++) {
		others |= row->items[file] != NULL;
		if (row->items[file] && row->blocks[file].count < count)
			count = row->blocks[file].count;
	}
	return others || !count ? count : 1;
}

void diff_text_print(const struct diff_text *text, struct writer *out)
{
	const struct diff *diff = text->diff;
	CLEANUP_STR struct str line = { 0 };
	char name[EVSEL_NAME_MAX];
	for (size_t i = 0; i < diff->event_count; i++) {
		const struct diff_event *event = &diff->events[i];
		const struct evsel *evsel = &session_evlist(diff->profiles[0]->session)->events.items[event->event];
		if (!text->quiet)
			writer_printf(out, "%s# Event '%s'\n#\n", i ? "\n" : "", evsel_name(evsel, name, sizeof name));
		if (text->significance && !text->quiet)
			writer_puts(out, "# *: changed   ~: no more than noise (95% for all rows together, from time slices of each recording)\n#\n");
		if (text->list_files || (diff->file_count > 2 && !text->quiet))
			add_files(text, out);
		if (!text->quiet)
			add_headers(text, event, out);
		for (size_t r = 0; r < event->row_count; r++) {
			if (!diff_row_is_shown(&event->rows[r]))
				continue;
			for (size_t block = 0; block < line_count(text, &event->rows[r]); block++) {
				add_row(text, event, &event->rows[r], block, &line);
				report_line_add(out, line.text, line.len, text->colour);
			}
		}
	}
}
