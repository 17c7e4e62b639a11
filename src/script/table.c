/* Samples as rows of a table: a column for each field that any event shows, the same row for all. */
#include <ctype.h>

#include "script/internal.h"

enum { RESULTS_VERSION = 1, COLUMNS_MAX = FIELD_COUNT * FIELD_COLUMNS + 2 };

struct cell stream_text_cell(const struct stream_line *line, const char *text, size_t len)
{
	return cell_text(arena_string(&line->worker->row, text, len));
}

struct cell stream_bytes_cell(const struct stream_line *line, const uint8_t *bytes, size_t len)
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

struct cell stream_printed_cell(const struct stream_line *line, field_print *print)
{
	struct writer *out = &line->worker->printed;
	struct stream_line own = *line;

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
	return end > start ? stream_text_cell(line, out->buffer + start, end - start) : cell_absent();
}

static void add_column(struct stream *stream, const struct field_row *row, const struct field_column *column)
{
	vec_push(&stream->columns, ((struct stream_column){ row, column }));
	vec_push(&stream->table_columns, ((struct table_column){ .name = column->name, .title = column->name, .unit = column->unit,
		.kind = column->kind }));
}

/* The type of a record that is not a sample, and its text. Hardware traces have records of errors, which are shown with the samples. */
static void add_record_columns(struct stream *stream)
{
	static const struct field_column columns[] = { { "record", CELL_TEXT }, { "record_text", CELL_TEXT } };
	const struct stream_options *o = &stream->options;

	if (!o->show_records && !o->show_rounds && !header_has(&stream->session->source->header, FEATURE_AUXTRACE))
		return;
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		add_column(stream, NULL, &columns[i]);
}

static void add_field_columns(struct stream *stream)
{
	uint64_t shown = 0;

	for (size_t i = 0; i < stream->plan_count; i++)
		shown |= stream->plans[i].has;
	for (int i = 0; i < FIELD_COUNT; i++)
		for (int c = 0; c < FIELD_COLUMNS; c++) {
			const struct field_column *column = &field_rows[i].columns[c];
			if (shown >> i & 1 && column->name && (!column->exists || column->exists(stream->options.fields)))
				add_column(stream, &field_rows[i], column);
		}
}

void stream_table_begin(struct stream *stream)
{
	if (stream->table_begun)
		return;
	stream->table_begun = true;
	add_field_columns(stream);
	add_record_columns(stream);
	const struct table table = { .name = "samples", .columns = stream->table_columns.items,
		.column_count = stream->table_columns.count };
	const struct results results = { .schema = "perfuse.script", .version = RESULTS_VERSION, .tables = &table, .table_count = 1 };
	stream->options.format->begin(&results, stream->out);
}

/* The text without what separates it from the type of the record in a line of text. */
static struct cell record_cell(const struct stream_line *line, const char *text)
{
	text += strspn(text, ": ");
	return *text ? stream_text_cell(line, text, strcspn(text, "\n")) : cell_absent();
}

void stream_table_row(const struct stream_line *line, const char *record)
{
	const struct stream *stream = line->stream;
	struct cell cells[COLUMNS_MAX];
	size_t count = stream->columns.count, records = 0;

	if (!stream->table_begun)
		return;
	arena_clear(&line->worker->row);
	for (size_t i = 0; i < count; i++) {
		const struct field_row *row = stream->columns.items[i].row;
		const struct field_column *column = stream->columns.items[i].column;
		bool has = row && line->plan && line->plan->has >> (row - field_rows) & 1 && (!record || row->lines == LINES_OF_RECORDS);
		cells[i] = has && column->value ? column->value(line) : cell_absent();
		if (!row && record)
			cells[i] = records++ ? record_cell(line, record) : cell_text(record_type_name(line->r->record->type));
	}
	stream->options.format->row(stream->table_columns.items, cells, count, line->out);
}

void stream_table_fini(struct stream *stream)
{
	vec_fini(&stream->columns);
	vec_fini(&stream->table_columns);
}

void stream_end(struct stream *stream)
{
	if (!stream->options.format)
		return;
	stream_table_begin(stream);
	stream->options.format->end(stream->out);
}
