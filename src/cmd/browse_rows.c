#include "cmd/browse_rows.h"

#include <string.h>

#include "cmd/browse_screen.h"
#include "cmd/browse_table.h"
#include "render/tui/face.h"

/* Texts have their length first, and a NUL after them; UINT32_MAX: NULL. */
static void put_text(struct writer *out, const char *text)
{
	uint32_t length = text ? (uint32_t)strlen(text) : UINT32_MAX;
	writer_add(out, &length, sizeof length);
	if (text)
		writer_add(out, text, (size_t)length + 1);
}

static void put_cell(struct writer *out, const struct cell *cell)
{
	CLEANUP_STR struct str text = { 0 };
	struct cell plain = *cell;
	if (plain.kind == CELL_LIST || plain.kind == CELL_MAP) {
		face_add(cell, &text);
		plain = cell_text(str_text(&text));
	}
	writer_add(out, &plain, sizeof plain);
	if (plain.kind == CELL_TEXT) {
		put_text(out, plain.text);
	} else if (plain.kind == CELL_TASK) {
		put_text(out, plain.task.comm);
	} else if (plain.kind == CELL_PLACE) {
		put_text(out, plain.place.module);
		put_text(out, plain.place.symbol);
		put_text(out, plain.place.line);
	}
}

static void begin(const struct results *results, struct writer *out)
{
	const struct table *table = &results->tables[0];
	uint32_t count = table->column_count < BROWSE_ROWS_COLUMNS ? (uint32_t)table->column_count : BROWSE_ROWS_COLUMNS;
	writer_add(out, &count, sizeof count);
	put_text(out, table->name);
	for (uint32_t i = 0; i < count; i++) {
		writer_add(out, &table->columns[i].kind, sizeof table->columns[i].kind);
		put_text(out, table->columns[i].name);
		put_text(out, table->columns[i].title);
		put_text(out, table->columns[i].unit);
	}
}

static void row(const struct table_column *columns, const struct cell *cells, size_t count, struct writer *out)
{
	for (size_t i = 0; i < count && i < BROWSE_ROWS_COLUMNS; i++)
		put_cell(out, &cells[i]);
}

static void end(struct writer *out)
{
}

const struct row_format browse_rows = { .begin = begin, .row = row, .end = end };

/* A position in the bytes, which this program wrote. */
struct reading {
	const char *at, *end;
};

static void get(struct reading *reading, void *to, size_t size)
{
	memcpy(to, reading->at, size);
	reading->at += size;
}

static const char *get_text(struct reading *reading)
{
	uint32_t length;
	get(reading, &length, sizeof length);
	if (length == UINT32_MAX)
		return NULL;
	const char *text = reading->at;
	reading->at += (size_t)length + 1;
	return text;
}

static struct cell get_cell(struct reading *reading)
{
	struct cell cell;
	get(reading, &cell, sizeof cell);
	if (cell.kind == CELL_TEXT) {
		cell.text = get_text(reading);
	} else if (cell.kind == CELL_TASK) {
		cell.task.comm = get_text(reading);
	} else if (cell.kind == CELL_PLACE) {
		cell.place.module = get_text(reading);
		cell.place.symbol = get_text(reading);
		cell.place.line = get_text(reading);
	}
	return cell;
}

static size_t row_count(void *context, uint64_t parent)
{
	const struct stored_rows *stored = context;
	return parent == TABLE_TOP ? stored->rows.count : 0;
}

static struct cell row_cell(void *context, uint64_t number, size_t column, struct str *scratch)
{
	const struct stored_rows *stored = context;
	struct reading reading = { stored->rows.items[number - 1], stored->end };
	struct cell cell = cell_absent();
	for (size_t i = 0; i <= column; i++)
		cell = get_cell(&reading);
	return cell;
}

void stored_rows_open(struct stored_rows *stored, const struct writer *bytes, size_t most)
{
	struct reading reading = { bytes->buffer, bytes->buffer + bytes->len };
	uint32_t count = 0;
	*stored = (struct stored_rows){ .end = reading.end };
	stored->table = (struct table){ .name = "", .columns = stored->columns, .context = stored,
		.row_count = row_count, .row = table_row_in_order,
		.cell = row_cell };
	if (bytes->len) {
		get(&reading, &count, sizeof count);
		stored->table.name = get_text(&reading);
	}
	stored->table.column_count = count;
	for (uint32_t i = 0; i < count; i++) {
		get(&reading, &stored->columns[i].kind, sizeof stored->columns[i].kind);
		stored->columns[i].name = get_text(&reading);
		stored->columns[i].title = get_text(&reading);
		stored->columns[i].unit = get_text(&reading);
	}
	while (count && reading.at < reading.end && stored->rows.count < most) {
		vec_push(&stored->rows, reading.at);
		for (uint32_t i = 0; i < count; i++)
			get_cell(&reading);
	}
}

void stored_rows_close(struct stored_rows *stored)
{
	vec_fini(&stored->rows);
}

void browse_rows_print(const struct writer *bytes, bool cut, struct writer *out)
{
	struct stored_rows stored;
	struct error err = { 0 };
	writer_flush(out, NULL);
	if (browse_rows_show(out->screen, bytes, cut, &err) == 0)
		return;
	stored_rows_open(&stored, bytes, SIZE_MAX);
	format_find("csv", NULL)->print(&(struct results){ .tables = &stored.table, .table_count = 1 }, out);
	stored_rows_close(&stored);
}

int browse_rows_show(struct browse_screen *screen, const struct writer *bytes, bool cut, struct error *err)
{
	struct stored_rows stored;
	stored_rows_open(&stored, bytes, screen && screen->previews ? PREVIEW_ROWS : SIZE_MAX);
	const struct table_fact facts[] = { { "rows", cell_count(stored.rows.count) }, { "shown", cell_text("only the first rows") } };
	stored.table.facts = facts;
	stored.table.fact_count = cut ? 2 : 1;
	int result = browse_table(screen, &(struct results){ .tables = &stored.table, .table_count = 1 }, err);
	stored_rows_close(&stored);
	return result;
}
