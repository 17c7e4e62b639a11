#include "render/annotate/block_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/place/source_line.h"
#include "render/annotate/counter_text.h"

enum { RANGE_MAX = 127, COUNT_MAX = 32, COLUMNS = 7, COUNTERS = 4, RANGE = 5, OBJECT = 6 };

static const struct { const char *title; int width; } columns[COLUMNS] = {
	{ "Sampled Cycles%", 15 }, { "Sampled Cycles", 14 }, { "Avg Cycles%", 11 }, { "Avg Cycles", 10 },
	{ COUNTER_TEXT_TITLE, COUNTER_TEXT_WIDTH }, { "[Program Block Range]", 70 }, { "Shared Object", 20 },
};

static bool shown(const struct block_text *text, size_t column)
{
	return column != COUNTERS || text->counters->items.count;
}

static void print_headers(const struct block_text *text, struct writer *out)
{
	writer_puts(out, "# ");
	for (size_t i = 0; i < COLUMNS; i++)
		if (shown(text, i))
			writer_printf(out, "%s%*s", !i ? "" : text->separator ? text->separator : "  ", columns[i].width, columns[i].title);
	writer_putc(out, '\n');
	if (text->separator)
		return;
	writer_puts(out, "# ");
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!shown(text, i))
			continue;
		writer_puts(out, i ? "  " : "");
		writer_pad(out, '.', (size_t)columns[i].width);
	}
	writer_puts(out, "\n#\n");
}

/* 1234 → "1.2K" */
static const char *count_text(uint64_t count, char text[static COUNT_MAX])
{
	if (count >= 1000000)
		snprintf(text, COUNT_MAX, "%.1fM", (double)count / 1000000.0);
	else if (count >= 1000)
		snprintf(text, COUNT_MAX, "%.1fK", (double)count / 1000.0);
	else
		snprintf(text, COUNT_MAX, "%" PRIu64, count);
	return text;
}

static void add_range(const struct block_text *text, const struct hot_block *block, struct str *range)
{
	static const struct source_style style = { .show_symbol = true, .show_address = true };
	uint64_t start = symbols_get(text->symbols, block->module, block->symbol)->start;
	str_putc(range, '[');
	source_line_add(text->symbols, block->module, start + block->start, block->symbol, style, range);
	str_puts(range, " -> ");
	source_line_add(text->symbols, block->module, start + block->end, block->symbol, style, range);
	str_putc(range, ']');
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * ((double)part / (double)whole) : 0.0;
}

void block_text_print(const struct block_text *text, struct writer *out)
{
	const struct hot_blocks *hot = text->hot;
	const char *between = text->separator ? text->separator : "  ";
	CLEANUP_STR struct str range = { 0 };
	char cycles[COUNT_MAX], average[COUNT_MAX];
	if (text->headers)
		print_headers(text, out);
	for (size_t i = 0; i < hot->count; i++) {
		const struct hot_block *block = &hot->items[i];
		uint64_t mean = hot_block_average(block);
		if ((float)share(block->cycles, hot->total) < text->min_percent)
			continue;
		writer_printf(out, "%s%14.2f%%%s%14s%s", text->separator ? "" : "  ", share(block->cycles, hot->total), between,
			count_text(block->cycles, cycles), between);
		writer_printf(out, "%10.2f%%%s%10s%s", share(mean, hot->averages), between, count_text(mean, average), between);
		str_clear(&range);
		if (shown(text, COUNTERS)) {
			uint64_t end = symbols_get(text->symbols, block->module, block->symbol)->start + block->end;
			counter_text_add(text->counters, text->blocks, block->module->id, end, block->runs, text->numbers, &range);
			writer_printf(out, "%*s%s", columns[COUNTERS].width, str_text(&range), between);
			str_clear(&range);
		}
		add_range(text, block, &range);
		size_t len = range.len < RANGE_MAX ? range.len : RANGE_MAX;
		writer_pad(out, ' ', len < (size_t)columns[RANGE].width ? (size_t)columns[RANGE].width - len : 0);
		writer_name(out, str_text(&range), len);
		size_t name = strlen(block->module->short_name);
		writer_puts(out, between);
		writer_pad(out, ' ', name < (size_t)columns[OBJECT].width ? (size_t)columns[OBJECT].width - name : 0);
		writer_name(out, block->module->short_name, name);
		writer_putc(out, '\n');
	}
}
