#include "render/format/aligned.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table/cell_text.h"
#include "base/memory.h"

/* How a column is printed. */
struct shown {
	size_t width;
	uint64_t largest;     /* of times and bytes */
	double divisor;       /* of its unit; 0: values as they are */
	const char *unit;
	bool used;
};

static const struct unit {
	uint64_t from;        /* the smallest largest value that is printed in it */
	const char *name;
} time_units[] = { { 10000000000, "s" }, { 10000000, "ms" }, { 10000, "us" }, { 0, "ns" } };

static uint64_t unit_of(const char *name)
{
	return !strcmp(name, "s") ? 1000000000 : !strcmp(name, "ms") ? 1000000 : !strcmp(name, "us") ? 1000 : 1;
}

static void put_name(const char *text, struct str *to)
{
	size_t before = to->len;
	str_puts(to, text);
	if (to->len > before)
		text_make_printable(to->text + before);
}

static void cell_print(const struct cell *cell, const struct shown *shown, struct str *to)
{
	char text[CELL_VALUE_MAX];
	if (cell->kind == CELL_TIME && shown->divisor > 1)
		str_printf(to, "%.3f", (double)cell->count / shown->divisor);
	else if (cell->kind == CELL_TEXT)
		put_name(cell->text, to);
	else if (cell->kind == CELL_TIME)
		str_printf(to, "%llu", (unsigned long long)cell->count);
	else if (cell_value_text(cell, CELL_FORM_SCREEN, text))
		str_puts(to, text);
	else
		str_puts(to, "-");
}

/* The text of a cell of the current row, or of the heading. */
static void text_of(const struct table_walk *walk, const struct table *table, size_t column, const struct shown *shown, struct str *to,
	struct str *scratch)
{
	str_clear(to);
	if (!walk) {
		str_puts(to, table->columns[column].title);
		if (shown->unit)
			str_printf(to, " (%s)", shown->unit);
		return;
	}
	struct cell cell = table->cell(table->context, walk->row, column, scratch);
	for (size_t i = 0; column == 0 && i < walk->depth; i++)
		str_puts(to, "  ");
	cell_print(&cell, shown, to);
}

static void row_print(const struct table_walk *walk, const struct table *table, const struct shown *columns, struct writer *out)
{
	CLEANUP_STR struct str text = { 0 }, scratch = { 0 };
	size_t owed = 0; /* blanks that a later column needs */
	for (size_t i = 0; i < table->column_count; i++) {
		if (!columns[i].used)
			continue;
		text_of(walk, table, i, &columns[i], &text, &scratch);
		size_t pad = columns[i].width - text.len;
		bool right = cell_is_number(table->columns[i].kind);
		writer_pad(out, ' ', owed + (right ? pad : 0));
		writer_puts(out, str_text(&text));
		owed = 2 + (right ? 0 : pad);
	}
	writer_putc(out, '\n');
}

static void measure(const struct table *table, struct shown *columns)
{
	CLEANUP_STR struct str text = { 0 }, scratch = { 0 };
	struct table_walk walk;
	for (int turn = 0; turn < 2; turn++) { /* units first: widths depend on them */
		table_walk_init(&walk, table);
		while (table_walk_next(&walk)) {
			for (size_t i = 0; i < table->column_count; i++) {
				struct cell cell = table->cell(table->context, walk.row, i, &scratch);
				columns[i].used |= cell.kind != CELL_ABSENT;
				if (cell.kind == CELL_TIME && cell.count > columns[i].largest)
					columns[i].largest = cell.count;
				if (turn == 0)
					continue;
				text_of(&walk, table, i, &columns[i], &text, &scratch);
				columns[i].width = text.len > columns[i].width ? text.len : columns[i].width;
			}
		}
		table_walk_fini(&walk);
		for (size_t i = 0; i < table->column_count; i++) {
			columns[i].unit = table->columns[i].unit;
			for (size_t u = 0; table->columns[i].kind == CELL_TIME && u < sizeof time_units / sizeof *time_units; u++) {
				if (columns[i].largest < time_units[u].from)
					continue;
				columns[i].unit = time_units[u].name;
				columns[i].divisor = (double)unit_of(time_units[u].name);
				break;
			}
			text_of(NULL, table, i, &columns[i], &text, &scratch);
			columns[i].width = text.len > columns[i].width ? text.len : columns[i].width;
		}
	}
}

void aligned_print(const struct table *table, struct writer *out)
{
	struct shown *columns = memory_zero(table->column_count ? table->column_count : 1, sizeof *columns);
	struct table_walk walk;
	measure(table, columns);
	row_print(NULL, table, columns, out);
	table_walk_init(&walk, table);
	while (table_walk_next(&walk))
		row_print(&walk, table, columns, out);
	table_walk_fini(&walk);
	free(columns);
}
