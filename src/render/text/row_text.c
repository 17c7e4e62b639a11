#include "render/text/row_text.h"

#include <inttypes.h>

#include "render/text/cell_text.h"
#include "render/text/percent.h"

void header_text_add(const struct profile *profile, const struct hist *hist, const struct column *column, struct str *out)
{
	enum { WIDTH_MAX = 1023 }; /* of perf's headers; its rows and dots are wider */
	unsigned whole = column_width(profile, hist, column);
	int width = (int)(whole < WIDTH_MAX ? whole : WIDTH_MAX);
	if (column->type->class == COLUMN_MEASURE)
		str_printf(out, "%*s", width, column->header);
	else if (column->type->class == COLUMN_FIELD)
		str_printf(out, "%*.*s", width, width, column->header);
	else
		text_left_cut(out, (unsigned)width, column->header);
}

/* Prints the number of one event; with an event group a cell has several. */
static void add_number(const struct profile *profile, const struct hist *hist, const struct column *column, const struct entry *entry,
	bool colour, struct str *out)
{
	enum measure measure = column->type->measure;
	uint64_t value = entry ? entry_measure(entry, measure) : 0;
	int width = (int)(column->user_width ? column->user_width : column->type->measure_width);
	if (measure <= MEASURE_CHILDREN) {
		uint64_t total = hist_total(profile, hist);
		double percent = total ? 100.0 * (double)value / (double)total : 0;
		percent_add(out, " ", profile->options.separator ? 1 : width - 2, percent, colour);
	} else if (measure >= MEASURE_WEIGHT1) {
		double average = entry && entry->self.count ? 1.0 * (double)value / entry->self.count : 0;
		str_printf(out, " %*.1f", profile->options.separator ? 1 : width - 1, average);
	} else {
		str_printf(out, " %*" PRIu64, profile->options.separator ? 1 : width - 1, value);
	}
}

static void add_measure(const struct profile *profile, const struct hist *hist, const struct column *column, const struct entry *entry,
	bool colour, struct str *out)
{
	if (column->type->measure == MEASURE_CHILDREN && profile->options.iteration != ITERATE_CALLERS) {
		str_printf(out, " %*s", (int)(column->user_width ? column->user_width : column->type->measure_width) - 1, "N/A");
		return;
	}
	if (!hist->members) {
		if (!profile->options.skip_empty || hist->samples)
			add_number(profile, hist, column, entry, colour, out);
		return;
	}
	for (uint32_t i = 0; i < hist->member_count; i++)
		if (!profile->options.skip_empty || hist->members[i]->samples)
			add_number(profile, hist->members[i], column, !i ? entry : entry->pairs ? entry->pairs[i] : NULL, colour, out);
}

void report_name_clean(struct str *out, size_t start, bool colour)
{
	if (out->len == start)
		return;
	if (colour)
		text_make_printable(out->text + start);
	text_join_lines(out->text + start, out->len - start);
}

void report_line_add(struct writer *out, const char *line, size_t len, bool colour)
{
	if (colour)
		writer_add_styled(out, line, len);
	else
		writer_add(out, line, len);
}

/* If a separator is given, cells must not contain it. */
static void hide_separator(const struct profile *profile, const struct column *column, char *text)
{
	if (!profile->options.separator || profile->options.separator[0] == '.' || column->type->class == COLUMN_FIELD)
		return;
	for (char *at = text; (at = strchr(at, profile->options.separator[0])) && *at;)
		*at = '.';
}

void entry_cell_add(const struct profile *profile, const struct hist *hist, const struct column *column, const struct entry *entry,
	bool colour, struct str *out)
{
	if (column->type->class == COLUMN_MEASURE) {
		add_measure(profile, hist, column, entry, colour && !profile->options.separator, out);
		return;
	}
	size_t start = out->len;
	CLEANUP_STR struct str scratch = { 0 };
	struct cell cell = column->type->value(profile, column, entry, &scratch);
	struct cell_style style = { .width = column_width(profile, hist, column), .verbose = profile->options.verbose > 0,
		.nanoseconds = profile->options.nanoseconds };
	cell_text_add(&cell, column->type, &style, out);
	report_name_clean(out, start, colour);
	if (out->text)
		hide_separator(profile, column, out->text + start);
}

void row_text_add(const struct profile *profile, const struct hist *hist, const struct entry *entry, bool colour, struct str *out)
{
	const struct columns *columns = profile->options.columns;
	const char *separator = profile->options.separator;
	bool first = true;
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = &columns->all.items[columns->fields.items[i]];
		if (column_skipped(column, hist))
			continue;
		if (!separator || !first)
			str_puts(out, separator ? separator : "  ");
		first = false;
		size_t start = out->len;
		entry_cell_add(profile, hist, column, entry, colour, out);
		size_t width = column_width(profile, hist, column);
		if (i + 1 < columns->fields.count && out->len - start < width)
			str_pad(out, ' ', width - (out->len - start));
	}
}

size_t row_text_limit(const struct profile *profile, const struct hist *hist, bool colour)
{
	enum { COLOUR_ROOM = (24 + 4) * 11, ADDRESS_DIGITS = 16 };
	const struct columns *columns = profile->options.columns;
	size_t limit = 3;
	bool first = true;
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = &columns->all.items[columns->fields.items[i]];
		if (column_skipped(column, hist))
			continue;
		limit += (first ? 0 : 2) + column_width(profile, hist, column);
		first = false;
	}
	if (profile->options.verbose > 0 && columns->has_symbol)
		limit += 3 + ADDRESS_DIGITS;
	if (!profile->options.separator)
		limit += COLOUR_ROOM;
	return limit;
}

bool row_text_shows_frame(const struct profile *profile)
{
	return profile->options.symbol_first;
}
