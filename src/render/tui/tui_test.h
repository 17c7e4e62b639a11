/* A small report for the tests of the browser: functions of two programs, with callers, in two events. */
#pragma once
#include <locale.h>
#include <string.h>

#include "render/tui/browser.h"

struct tui_row {
	uint64_t period;
	const char *comm, *dso, *symbol;
	char level;
	int caller;   /* index of tui_callers; -1: none */
};

/* 100 in all. */
static const struct tui_row tui_rows[] = {
	{ 50, "cc1", "cc1", "parse", '.', 0 }, { 30, "cc1", "libc.so.6", "memcpy", '.', 1 }, { 15, "ld", "[kernel.kallsyms]", "do_read", 'k', -1 },
	{ 4, "ld", "ld", "link", '.', -1 }, { 1, "ld", "ld", "b\xc3\xbc" "cher\x1b[31m", '.', -1 },
};
enum { TUI_ROWS = sizeof tui_rows / sizeof *tui_rows };

static inline size_t tui_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? *(const size_t *)context : 0;
}

static inline uint64_t tui_row_number(void *context, uint64_t parent, size_t index)
{
	return index + 1;
}

static inline struct cell tui_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct tui_row *at = &tui_rows[row - 1];
	switch (column) {
	case 0:
		return (struct cell){ .kind = CELL_SHARE, .share = { at->period, 100 } };
	case 1:
		return cell_text(at->comm);
	case 2:
		return cell_text(at->dso);
	default:
		return (struct cell){ .kind = CELL_PLACE, .place = { .module = at->dso, .symbol = at->symbol, .level = at->level } };
	}
}

/* Of row 1: main (50), which was called by start (50); of row 2: parse (20), link (10). Row numbers are periods. */
static inline size_t tui_callers_below(void *context, uint64_t parent)
{
	uint64_t row = *(const uint64_t *)context;
	return row == 1 ? parent == TABLE_TOP || parent == 50 : parent == TABLE_TOP ? 2 : 0;
}

static inline uint64_t tui_caller(void *context, uint64_t parent, size_t index)
{
	uint64_t row = *(const uint64_t *)context;
	return row == 1 ? parent == TABLE_TOP ? 50 : 51 : index ? 10 : 20;
}

static inline struct cell tui_caller_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const char *symbol = row == 50 ? "main" : row == 51 ? "start" : row == 20 ? "parse" : "link";
	struct cell place = { .kind = CELL_PLACE, .place = { .module = "cc1", .symbol = symbol, .level = '.' } };
	return column ? place : cell_count(row == 51 ? 50 : row);
}

static inline bool tui_detail(void *context, uint64_t row, struct table *detail)
{
	static const struct table_column columns[] = { { "period", "Period", NULL, CELL_COUNT }, { "place", "Place", NULL, CELL_PLACE } };
	static uint64_t of;
	of = row;
	*detail = (struct table){ .name = "callers", .tree = true, .columns = columns, .column_count = 2, .context = &of,
		.row_count = tui_callers_below, .row = tui_caller, .cell = tui_caller_cell };
	return tui_rows[row - 1].caller >= 0;
}

/* The first `count` rows of the report. */
static inline struct snapshot *tui_snapshot(size_t count, const char *event)
{
	static const struct table_column columns[] = { { "overhead", "Overhead", NULL, CELL_SHARE }, { "comm", "Command", NULL, CELL_TEXT },
		{ "dso", "Shared Object", NULL, CELL_TEXT }, { "symbol", "Symbol", NULL, CELL_PLACE } };
	const struct table_fact facts[] = { { "event", cell_text(event) }, { "samples", cell_count(1234) }, { "period", cell_count(100) } };
	const struct table table = { .name = "entries", .columns = columns, .column_count = 4, .facts = facts, .fact_count = 3, .context = &count,
		.row_count = tui_count, .row = tui_row_number, .cell = tui_cell, .detail = tui_detail };
	setlocale(LC_CTYPE, "C.UTF-8");
	return snapshot_new(&table, 1000);
}
