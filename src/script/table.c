/* Samples as rows of a table: a column for each field that any event shows, the same row for all. */
#include <ctype.h>

#include "script/internal.h"

enum { RESULTS_VERSION = 1, COLUMNS_MAX = FIELD_COUNT * FIELD_COLUMNS + 2 };

struct cell listing_text_cell(const struct listing_line *line, const char *text, size_t len)
{
	return cell_text(arena_string(&line->worker->row, text, len));
}

struct cell listing_bytes_cell(const struct listing_line *line, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (!bytes)
		return cell_absent();
	char *text = arena_bytes(&line->worker->row, 2 * len + 1), *p = text;
	for (size_t i = 0; i < len; i++) {
		*p++ = digits[bytes[i] >> 4];
		*p++ = digits[bytes[i] & 15];
	}
	*p = '\0';
	return cell_text(text);
}

struct cell listing_printed_cell(const struct listing_line *line, field_print *print)
{
	struct writer *out = &line->worker->printed;
	struct listing_line own = *line;

	if (!out->buffer)
		writer_open(out, -1, 256);
	out->len = 0;
	own.out = out;
	print(&own, NULL);
	size_t start = 0, end = out->len;
	while (start < end && isspace((unsigned char)out->buffer[start]))
		start++;
	while (end > start && isspace((unsigned char)out->buffer[end - 1]))
		end--;
	return end > start ? listing_text_cell(line, out->buffer + start, end - start) : cell_absent();
}

static void add_column(struct listing *listing, const struct field_row *row, const struct field_column *column)
{
	vec_push(&listing->columns, ((struct listing_column){ row, column }));
	vec_push(&listing->table_columns, ((struct table_column){ .name = column->name, .title = column->name, .unit = column->unit,
		.kind = column->kind }));
}

/* The type of a record that is not a sample, and its text. Hardware traces have records of errors, which are shown with the samples. */
static void add_record_columns(struct listing *listing)
{
	static const struct field_column columns[] = { { "record", CELL_TEXT }, { "record_text", CELL_TEXT } };
	const struct listing_options *o = &listing->options;

	if (!o->show_records && !o->show_rounds && !header_has(&listing->session->source->header, FEATURE_AUXTRACE))
		return;
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		add_column(listing, NULL, &columns[i]);
}

static void add_field_columns(struct listing *listing)
{
	uint64_t shown = 0;

	for (size_t i = 0; i < listing->plan_count; i++)
		shown |= listing->plans[i].has;
	for (int i = 0; i < FIELD_COUNT; i++)
		for (int c = 0; c < FIELD_COLUMNS; c++) {
			const struct field_column *column = &field_rows[i].columns[c];
			if (shown >> i & 1 && column->name && (!column->exists || column->exists(listing->options.fields)))
				add_column(listing, &field_rows[i], column);
		}
}

void listing_table_begin(struct listing *listing)
{
	if (listing->table_begun)
		return;
	listing->table_begun = true;
	add_field_columns(listing);
	add_record_columns(listing);
	const struct table table = { .name = "samples", .columns = listing->table_columns.items,
		.column_count = listing->table_columns.count };
	const struct results results = { .schema = "perfuse.script", .version = RESULTS_VERSION, .tables = &table, .table_count = 1 };
	listing->options.format->begin(&results, listing->out);
}

/* The text without what separates it from the type of the record in a line of text. */
static struct cell record_cell(const struct listing_line *line, const char *text)
{
	text += strspn(text, ": ");
	return *text ? listing_text_cell(line, text, strcspn(text, "\n")) : cell_absent();
}

void listing_table_row(const struct listing_line *line, const char *record)
{
	const struct listing *listing = line->listing;
	struct cell cells[COLUMNS_MAX];
	size_t count = listing->columns.count, records = 0;

	if (!listing->table_begun)
		return;
	arena_clear(&line->worker->row);
	for (size_t i = 0; i < count; i++) {
		const struct field_row *row = listing->columns.items[i].row;
		const struct field_column *column = listing->columns.items[i].column;
		bool has = row && line->plan && line->plan->has >> (row - field_rows) & 1 && (!record || row->lines == LINES_OF_RECORDS);
		cells[i] = has && column->value ? column->value(line) : cell_absent();
		if (!row && record)
			cells[i] = records++ ? record_cell(line, record) : cell_text(record_type_name(line->r->record->type));
	}
	listing->options.format->row(listing->table_columns.items, cells, count, line->out);
}

void listing_table_fini(struct listing *listing)
{
	vec_fini(&listing->columns);
	vec_fini(&listing->table_columns);
}

void listing_end(struct listing *listing)
{
	if (!listing->options.format)
		return;
	listing_table_begin(listing);
	listing->options.format->end(listing->out);
}
