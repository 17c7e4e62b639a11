/* Results as one JSON document: facts, columns and rows of each table. The rows of a tree are a list, too, each before those below it,
 * with their depth: nested ones would exceed the limits of JSON readers. docs/formats.md describes it. */
#include <inttypes.h>

#include "base/json.h"
#include "render/format/format.h"

static const char *const kinds[CELL_KINDS] = {
	[CELL_ABSENT] = "none", [CELL_COUNT] = "count", [CELL_NUMBER] = "number", [CELL_REAL] = "real", [CELL_SHARE] = "share",
	[CELL_BYTES] = "bytes", [CELL_TIME] = "time", [CELL_ADDRESS] = "address", [CELL_FLAG] = "flag", [CELL_TEXT] = "text",
	[CELL_TASK] = "task", [CELL_PLACE] = "place", [CELL_FILE_ID] = "file_id", [CELL_LIST] = "list", [CELL_MAP] = "map",
};

static void add_address(struct writer *out, uint64_t address)
{
	writer_add(out, "\"0x", 3);
	writer_hex(out, address, 0);
	writer_putc(out, '"');
}

static void add_place(const struct cell_place *place, struct writer *out)
{
	bool first = true;
	writer_putc(out, '{');
	json_key(out, "address", &first);
	add_address(out, place->address);
	json_key(out, "symbol", &first);
	json_text(out, place->symbol);
	if (place->symbol && !place->inlined) {
		json_key(out, "offset", &first);
		writer_decimal(out, place->offset, 0);
	}
	json_key(out, "module", &first);
	json_text(out, place->module);
	if (place->level) {
		json_key(out, "level", &first);
		json_text_of(out, &place->level, 1);
	}
	if (place->inlined) {
		json_key(out, "inlined", &first);
		writer_puts(out, "true");
	}
	if (place->line) {
		json_key(out, "line", &first);
		json_text(out, place->line);
	}
	writer_putc(out, '}');
}

static void add_list(const struct cell_list *list, struct writer *out)
{
	bool first = true;
	writer_putc(out, '[');
	for (size_t i = 0; i < list->count; i++) {
		json_comma(out, &first);
		cell_json(&list->items[i], out);
	}
	writer_putc(out, ']');
}

static void add_map(const struct cell_map *map, struct writer *out)
{
	bool first = true;
	writer_putc(out, '{');
	for (size_t i = 0; i < map->count; i++) {
		json_key(out, map->items[i].name, &first);
		cell_json(&map->items[i].value, out);
	}
	writer_putc(out, '}');
}

void cell_json(const struct cell *cell, struct writer *out)
{
	switch (cell->kind) {
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_TIME:
		writer_decimal(out, cell->count, 0);
		break;
	case CELL_NUMBER:
		writer_printf(out, "%" PRId64, cell->number);
		break;
	case CELL_REAL:
		json_real(out, cell->real);
		break;
	case CELL_SHARE:
		json_real(out, cell_fraction(cell));
		break;
	case CELL_ADDRESS:
		add_address(out, cell->count);
		break;
	case CELL_FLAG:
		writer_puts(out, cell->flag ? "true" : "false");
		break;
	case CELL_TEXT:
		json_text(out, cell->text);
		break;
	case CELL_TASK:
		writer_printf(out, "{\"tid\":%d,\"comm\":", cell->task.tid);
		json_text(out, cell->task.comm);
		writer_putc(out, '}');
		break;
	case CELL_PLACE:
		add_place(&cell->place, out);
		break;
	case CELL_FILE_ID:
		writer_printf(out, "{\"device\":%" PRIu64 ",\"inode\":%" PRIu64 "}", cell->file_id.device, cell->file_id.inode);
		break;
	case CELL_LIST:
		add_list(&cell->list, out);
		break;
	case CELL_MAP:
		add_map(&cell->map, out);
		break;
	default:
		writer_puts(out, "null");
	}
}

static void add_facts(const struct table_fact *facts, size_t count, struct writer *out)
{
	bool first = true;
	writer_puts(out, "\"facts\":{");
	for (size_t i = 0; i < count; i++) {
		json_key(out, facts[i].name, &first);
		cell_json(&facts[i].value, out);
	}
	writer_putc(out, '}');
}

static void add_columns(const struct table *table, struct writer *out)
{
	bool first = true;
	writer_puts(out, "\"columns\":[");
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		json_comma(out, &first);
		writer_puts(out, "\n{\"name\":");
		json_text(out, column->name);
		writer_puts(out, ",\"title\":");
		json_text(out, column->title);
		writer_printf(out, ",\"kind\":\"%s\"", kinds[column->kind]);
		if (column->unit) {
			writer_puts(out, ",\"unit\":");
			json_text(out, column->unit);
		}
		writer_putc(out, '}');
	}
	writer_putc(out, ']');
}

static void add_rows(const struct table *table, struct writer *out);

static void add_row(const struct table *table, uint64_t row, size_t depth, struct writer *out)
{
	CLEANUP_STR struct str scratch = { 0 };
	bool first = true;
	struct table detail;
	writer_puts(out, "\n{");
	if (table->tree) {
		json_key(out, "depth", &first);
		writer_printf(out, "%zu", depth);
	}
	for (size_t i = 0; i < table->column_count; i++) {
		str_clear(&scratch);
		struct cell cell = table->cell(table->context, row, i, &scratch);
		json_key(out, table->columns[i].name, &first);
		cell_json(&cell, out);
	}
	if (table->detail && table->detail(table->context, row, &detail)) {
		json_key(out, detail.name, &first);
		add_rows(&detail, out);
	}
	writer_putc(out, '}');
}

static void add_rows(const struct table *table, struct writer *out)
{
	struct table_walk walk;
	bool first = true;
	writer_putc(out, '[');
	table_walk_init(&walk, table);
	while (table_walk_next(&walk)) {
		json_comma(out, &first);
		add_row(table, walk.row, walk.depth, out);
	}
	table_walk_fini(&walk);
	writer_putc(out, ']');
}

/* Everything before the first row. */
static void add_table_head(const struct table *table, struct writer *out)
{
	writer_puts(out, "{\"name\":");
	json_text(out, table->name);
	writer_puts(out, ",\n");
	add_facts(table->facts, table->fact_count, out);
	writer_puts(out, ",\n");
	add_columns(table, out);
	writer_puts(out, ",\n\"rows\":");
}

static void add_results_head(const struct results *results, struct writer *out)
{
	writer_puts(out, "{\"schema\":");
	json_text(out, results->schema);
	writer_printf(out, ",\"version\":%u,\n", results->version);
	add_facts(results->facts, results->fact_count, out);
	writer_puts(out, ",\n\"tables\":[");
}

static void print(const struct results *results, struct writer *out)
{
	bool first = true;
	add_results_head(results, out);
	for (size_t i = 0; i < results->table_count; i++) {
		json_comma(out, &first);
		writer_putc(out, '\n');
		add_table_head(&results->tables[i], out);
		add_rows(&results->tables[i], out);
		writer_putc(out, '}');
	}
	writer_puts(out, "]}\n");
}

static void rows_begin(const struct results *results, struct writer *out)
{
	add_results_head(results, out);
	writer_putc(out, '\n');
	add_table_head(&results->tables[0], out);
	writer_putc(out, '[');
}

static void rows_add(const struct table_column *columns, const struct cell *cells, size_t count, struct writer *out)
{
	bool first = true;
	writer_puts(out, ",\n{");
	for (size_t i = 0; i < count; i++) {
		json_key(out, columns[i].name, &first);
		cell_json(&cells[i], out);
	}
	writer_putc(out, '}');
}

static void rows_end(struct writer *out)
{
	writer_puts(out, "]}]}\n");
}

static const struct row_format rows = { .begin = rows_begin, .row = rows_add, .separator = 1, .end = rows_end };

const struct format format_json = { "json", "one JSON document", print, &rows };
