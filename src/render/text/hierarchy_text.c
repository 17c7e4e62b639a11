#include "render/text/hierarchy_text.h"

#include <ctype.h>

#include "analysis/profile/hierarchy.h"
#include "render/text/chain_text.h"
#include "render/text/row_text.h"

enum {
	INDENT = 3,
	DOTS_MAX = 207, /* perf has no more */
};

struct drawing {
	const struct report_text *report;
	const struct hist *hist;
	const struct hierarchy *hierarchy;
	struct str line;
	struct writer *out;
	size_t limit;
};

static const struct column *column_of(const struct drawing *d, const struct hierarchy_level *level, uint32_t i)
{
	return &d->report->profile->options.columns->all.items[level->columns[i]];
}

static const char *separator_of(const struct drawing *d)
{
	return d->report->profile->options.separator;
}

/* Fills the width of the levels' indentation with c. */
static void add_indent(const struct drawing *d, unsigned levels, char c)
{
	if (!separator_of(d) && levels >= 2)
		writer_pad(d->out, c, (levels - 2) * INDENT);
}

static void trim(struct str *text)
{
	size_t start = 0;
	while (text->len && isspace((unsigned char)text->text[text->len - 1]))
		text->text[--text->len] = '\0';
	while (start < text->len && isspace((unsigned char)text->text[start]))
		start++;
	if (start) {
		text->len -= start;
		memmove(text->text, text->text + start, text->len + 1);
	}
}

/* "Command / Shared Object / Symbol": returns its length. */
static size_t add_titles(struct drawing *d)
{
	size_t length = 0;
	for (uint32_t i = 1; i < d->hierarchy->count; i++) {
		const struct hierarchy_level *level = &d->hierarchy->levels[i];
		bool first = true;
		if (i > 1) {
			writer_puts(d->out, " / ");
			length += 3;
		}
		for (uint32_t c = 0; c < level->count; c++) {
			const struct column *column = column_of(d, level, c);
			if (column_skipped_in_level(column, d->hist))
				continue;
			str_clear(&d->line);
			if (!first)
				str_putc(&d->line, '+');
			first = false;
			CLEANUP_STR struct str title = { 0 };
			header_text_add(d->report->profile, d->hist, column, &title);
			trim(&title);
			str_add(&d->line, str_text(&title), title.len);
			writer_add(d->out, d->line.text, d->line.len);
			length += d->line.len;
		}
	}
	return length;
}

/* The widest that a level can get, at its indentation. */
static size_t widest_level(const struct drawing *d)
{
	size_t widest = 0;
	for (uint32_t i = 1; i < d->hierarchy->count; i++) {
		const struct hierarchy_level *level = &d->hierarchy->levels[i];
		size_t width = (i - 1) * INDENT;
		bool first = true;
		for (uint32_t c = 0; c < level->count; c++) {
			const struct column *column = column_of(d, level, c);
			if (column_skipped_in_level(column, d->hist))
				continue;
			width += column_width(d->report->profile, d->hist, column) + !first;
			first = false;
		}
		widest = width > widest ? width : widest;
	}
	return widest;
}

static void add_headers(struct drawing *d)
{
	const struct profile *profile = d->report->profile;
	const struct hierarchy_level *measures = &d->hierarchy->levels[0];
	const char *separator = separator_of(d);
	writer_puts(d->out, "# ");
	add_indent(d, d->hierarchy->count, ' ');
	for (uint32_t i = 0; i < measures->count; i++) {
		str_clear(&d->line);
		header_text_add(profile, d->hist, column_of(d, measures, i), &d->line);
		writer_printf(d->out, "%s%s", str_text(&d->line), separator ? separator : "  ");
	}
	size_t width = add_titles(d), widest = widest_level(d);
	writer_puts(d->out, "\n# ");
	add_indent(d, d->hierarchy->count, '.');
	for (uint32_t i = 0; i < measures->count; i++) {
		if (i)
			writer_puts(d->out, separator ? separator : "..");
		writer_pad(d->out, '.', column_width(profile, d->hist, column_of(d, measures, i)));
	}
	writer_puts(d->out, separator ? separator : "  ");
	width = width > widest ? width : widest;
	writer_pad(d->out, '.', width < DOTS_MAX ? width : DOTS_MAX);
	writer_puts(d->out, "\n#\n");
}

/* The measures, indented; at most as much as perf's line holds. */
static void add_measures(struct drawing *d, const struct entry *entry)
{
	const struct hierarchy_level *measures = &d->hierarchy->levels[0];
	const char *separator = separator_of(d);
	str_clear(&d->line);
	for (unsigned i = 0; i < entry->depth * INDENT; i++)
		str_putc(&d->line, ' ');
	for (uint32_t i = 0; i < measures->count; i++) {
		if (!separator || i)
			str_puts(&d->line, separator ? separator : "  ");
		const struct column *column = column_of(d, measures, i);
		size_t start = d->line.len, width = column_width(d->report->profile, d->hist, column);
		entry_cell_add(d->report->profile, d->hist, column, entry, d->report->colour, &d->line);
		while (d->line.len - start < width)
			str_putc(&d->line, ' ');
	}
	for (unsigned i = 0; !separator && d->hierarchy->count > 2 && i < (d->hierarchy->count - 2) * INDENT; i++)
		str_putc(&d->line, ' ');
	report_line_add(d->out, str_text(&d->line), d->line.len < d->limit ? d->line.len : d->limit, d->report->colour);
}

static void add_entry(struct drawing *d, const struct entry *entry)
{
	const struct profile *profile = d->report->profile;
	const struct hierarchy_level *level = &d->hierarchy->levels[entry->level_index];
	const char *separator = separator_of(d);
	add_measures(d, entry);
	for (uint32_t i = 0; i < level->count; i++) {
		str_clear(&d->line);
		str_puts(&d->line, "");
		entry_cell_add(profile, d->hist, column_of(d, level, i), entry, d->report->colour, &d->line);
		if (d->line.len > d->limit && d->line.text)
			d->line.text[d->line.len = d->limit] = '\0';
		const char *text = str_text(&d->line);
		writer_printf(d->out, "%s%s", separator ? separator : "  ", text + strspn(text, " \t\n\v\f\r"));
	}
	writer_putc(d->out, '\n');
	if (entry->leaf && profile->options.use_chains) {
		struct chain_text chain = { .profile = profile, .hist = d->hist, .colour = d->report->colour, .out = &d->line,
			.spill = d->out };
		chain.skip_first = row_text_shows_frame(profile);
		str_clear(&d->line);
		chain_text_add(&chain, entry);
		report_line_add(d->out, str_text(&d->line), d->line.len, d->report->colour);
	}
}

static bool has_shown_child(const struct drawing *d, const struct entry *entry)
{
	const struct profile *profile = d->report->profile;
	for (uint32_t i = 0; i < entry->child_count; i++)
		if (!entry->children[i]->filtered)
			return hist_percent(profile, d->hist, entry->children[i]) >= profile->options.min_percent;
	return false;
}

/* How far the columns before the first key reach. */
static unsigned measures_width(const struct drawing *d)
{
	const struct profile *profile = d->report->profile;
	const struct columns *columns = profile->options.columns;
	unsigned width = 0;
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = &columns->all.items[columns->fields.items[i]];
		if (column->type->class != COLUMN_MEASURE)
			break;
		width += (i ? 2 : 0) + column_width(profile, d->hist, column);
	}
	return width;
}

static void add_entries(struct drawing *d, struct entry *const *entries, size_t count)
{
	const struct profile *profile = d->report->profile;
	for (size_t i = 0; i < count; i++) {
		const struct entry *entry = entries[i];
		if (!entry->filtered && hist_percent(profile, d->hist, entry) >= profile->options.min_percent) {
			add_entry(d, entry);
			if (!entry->leaf && !has_shown_child(d, entry)) {
				add_indent(d, d->hierarchy->count + entry->depth + 1, ' ');
				writer_pad(d->out, ' ', measures_width(d) + 4);
				writer_printf(d->out, "no entry >= %.2f%%\n", (double)profile->options.min_percent);
			}
		}
		add_entries(d, entry->children, entry->child_count);
	}
}

void hierarchy_text_print(const struct report_text *report, const struct hist *hist, struct writer *out)
{
	struct hierarchy hierarchy;
	hierarchy_levels(&hierarchy, report->profile, hist);
	struct drawing d = { .report = report, .hist = hist, .hierarchy = &hierarchy, .out = out };
	d.limit = row_text_limit(report->profile, hist, report->colour);
	if (!report->quiet)
		add_headers(&d);
	add_entries(&d, hist->entries, hist->count);
	str_fini(&d.line);
}
