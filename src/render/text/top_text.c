#include "render/text/top_text.h"

#include <inttypes.h>

#include "analysis/profile/hist.h"
#include "render/text/chain_text.h"
#include "render/text/hierarchy_text.h"
#include "render/text/report_text.h"
#include "render/text/row_text.h"

void top_heading_print(const struct top_heading *heading, size_t width, struct writer *out)
{
	CLEANUP_STR struct str line = { 0 };
	str_printf(&line, "   PerfTop:%8.0f irqs/sec  kernel:%4.1f%%  exact: %4.1f%% lost: %" PRIu64 "/%" PRIu64 " drop: 0/0 [",
		heading->samples_per_second, heading->kernel_percent, heading->exact_percent, heading->lost, heading->lost_before);
	if (heading->rate)
		str_printf(&line, "%" PRIu64 "%s ", heading->rate, heading->frequency ? "Hz" : "");
	str_printf(&line, "%s],  (%s)", heading->event, heading->target);
	report_name_clean(&line, 0, true);
	writer_add(out, line.text, line.len);
	writer_putc(out, '\n');
	writer_pad(out, '-', width);
	writer_putc(out, '\n');
}

size_t top_line_fitting(const char *text, size_t len, size_t width)
{
	size_t columns = 0;
	for (size_t i = 0; i < len;) {
		if (text[i] == '\033') {
			while (i < len && text[i] != 'm')
				i++;
			i += i < len;
			continue;
		}
		bool continues = ((unsigned char)text[i] & 0xc0) == 0x80; /* of a UTF-8 character */
		if (!continues && columns++ == width)
			return i;
		i++;
	}
	return len;
}

static void add_lines(const struct top_table *table, const struct str *text, struct writer *out)
{
	for (size_t at = 0; at < text->len;) {
		const char *end = memchr(text->text + at, '\n', text->len - at);
		size_t len = end ? (size_t)(end - text->text) - at : text->len - at;
		report_line_add(out, text->text + at, top_line_fitting(text->text + at, len, table->width), table->colour);
		writer_putc(out, '\n');
		at += len + 1;
	}
}

static bool is_shown(const struct top_table *table, const struct entry *entry)
{
	return !entry->filtered && hist_percent(table->profile, table->hist, entry) >= table->min_percent &&
		(!table->min_count || entry->self.count > table->min_count);
}

static void add_entry(const struct top_table *table, const struct entry *entry, struct str *text)
{
	struct chain_text chain = { .profile = table->profile, .hist = table->hist, .colour = table->colour, .out = text };
	chain.skip_first = row_text_shows_frame(table->profile);
	str_clear(text);
	row_text_add(table->profile, table->hist, entry, table->colour, text);
	str_putc(text, '\n');
	if (table->profile->options.use_chains)
		chain_text_add(&chain, entry);
}

static void add_hierarchy(const struct top_table *table, struct writer *out)
{
	struct writer memory;
	struct report_text report = { .profile = table->profile, .quiet = true, .colour = table->colour };
	writer_open(&memory, -1, 0);
	hierarchy_text_print(&report, table->hist, &memory);
	size_t rows = 0, len = 0;
	while (len < memory.len && rows < table->rows)
		rows += memory.buffer[len++] == '\n';
	add_lines(table, &(struct str){ .text = memory.buffer, .len = len }, out);
	writer_fini(&memory);
}

void top_table_print(const struct top_table *table, struct writer *out)
{
	CLEANUP_STR struct str text = { 0 };
	const struct hist *hist = table->hist;
	writer_putc(out, '\n');
	if (!hist)
		return;
	if (table->profile->options.hierarchy) {
		add_hierarchy(table, out);
		return;
	}
	size_t rows = 0;
	for (size_t i = 0; i < hist->count && rows < table->rows; i++) {
		if (!is_shown(table, hist->entries[i]))
			continue;
		add_entry(table, hist->entries[i], &text);
		add_lines(table, &text, out);
		rows++;
	}
}
