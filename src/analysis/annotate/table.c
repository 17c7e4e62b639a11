#include <stdio.h>
#include <stdlib.h>

#include "analysis/annotate/annotation.h"
#include "analysis/annotate/line_sums.h"

/* The columns before and after those of the events. */
enum first_column { COLUMN_ADDRESS, COLUMN_OFFSET, FIRST_COLUMNS };
enum last_column {
	COLUMN_BYTES, COLUMN_INSTRUCTION, COLUMN_OPERANDS, COLUMN_TARGET, COLUMN_TARGET_NAME, COLUMN_FILE, COLUMN_LINE, COLUMN_TEXT, LAST_COLUMNS
};

static const struct table_column first_columns[FIRST_COLUMNS] = {
	[COLUMN_ADDRESS] = { "address", "Address", NULL, CELL_ADDRESS },
	[COLUMN_OFFSET] = { "offset", "Offset", "bytes", CELL_COUNT },
};

static const struct table_column last_columns[LAST_COLUMNS] = {
	[COLUMN_BYTES] = { "bytes", "Bytes", NULL, CELL_TEXT },
	[COLUMN_INSTRUCTION] = { "instruction", "Instruction", NULL, CELL_TEXT },
	[COLUMN_OPERANDS] = { "operands", "Operands", NULL, CELL_TEXT },
	[COLUMN_TARGET] = { "target", "Target", NULL, CELL_ADDRESS },
	[COLUMN_TARGET_NAME] = { "target_name", "Target Symbol", NULL, CELL_TEXT },
	[COLUMN_FILE] = { "file", "Source File", NULL, CELL_TEXT },
	[COLUMN_LINE] = { "line", "Source Line", NULL, CELL_COUNT },
	[COLUMN_TEXT] = { "text", "Source", NULL, CELL_TEXT },
};

static size_t code_row_count(void *context, uint64_t parent)
{
	const struct annotation_table *table = context;
	return table->annotation->lines.count;
}

static struct cell event_cell(const struct annotation_table *table, const struct annotated_line *line, uint32_t event, unsigned column)
{
	struct hit_count count = annotated_count(line, event);
	if (line->kind != ANNOTATED_CODE)
		return cell_absent();
	return event_columns_cell(column, count, table->annotation->totals[event].period);
}

static struct cell bytes_cell(const struct annotated_line *line, struct str *scratch)
{
	str_clear(scratch);
	for (unsigned i = 0; i < line->length; i++)
		str_printf(scratch, "%02x", line->bytes[i]);
	return line->length ? cell_text(str_text(scratch)) : cell_absent();
}

static struct cell last_cell(const struct annotated_line *line, unsigned column, struct str *scratch)
{
	bool leads = line->direct || line->reference;
	switch (column) {
	case COLUMN_BYTES:
		return bytes_cell(line, scratch);
	case COLUMN_INSTRUCTION:
		return cell_text(line->mnemonic);
	case COLUMN_OPERANDS:
		return cell_text(line->mnemonic && *line->operands ? line->operands : NULL);
	case COLUMN_TARGET:
		return leads ? cell_address(line->direct ? line->target : line->reference) : cell_absent();
	case COLUMN_TARGET_NAME:
		return cell_text(line->direct ? line->target_name : line->reference_name);
	case COLUMN_FILE:
		return cell_text(line->file);
	case COLUMN_LINE:
		return line->line_number ? cell_count(line->line_number) : cell_absent();
	default:
		return cell_text(line->text);
	}
}

static struct cell code_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct annotation_table *table = context;
	const struct annotated_line *line = &table->annotation->lines.items[row - 1];
	size_t event_cells = table->columns.events.count * EVENT_COLUMNS;
	if (column < FIRST_COLUMNS) {
		uint64_t value = column == COLUMN_ADDRESS ? line->address : line->offset;
		if (line->kind != ANNOTATED_CODE)
			return cell_absent();
		return column == COLUMN_ADDRESS ? cell_address(value) : cell_count(value);
	}
	column -= FIRST_COLUMNS;
	if (column < event_cells)
		return event_cell(table, line, table->columns.events.items[column / EVENT_COLUMNS], column % EVENT_COLUMNS);
	return last_cell(line, (unsigned)(column - event_cells), scratch);
}

/* With samples. */
static uint32_t first_event(const struct annotation *annotation)
{
	uint32_t event = 0;
	while (annotation->totals && event + 1 < annotation->event_count && !annotation->totals[event].samples)
		event++;
	return event;
}

static struct line_sum hottest_line(const struct annotation *annotation)
{
	struct line_sums sums;
	line_sums_make(&sums, annotation, first_event(annotation));
	struct line_sum line = line_sums_hottest(&sums);
	line_sums_fini(&sums);
	return line;
}

static struct cell share_of_function(const struct annotation *annotation, const struct line_sum *line)
{
	return (struct cell){ .kind = CELL_SHARE, .share = { line->count.period, annotation->totals[first_event(annotation)].period } };
}

void annotation_table_init(struct annotation_table *table, const struct annotation *annotation, const char *const *event_names)
{
	*table = (struct annotation_table){ .annotation = annotation };
	event_columns_add_own(&table->columns, first_columns, FIRST_COLUMNS);
	for (uint32_t event = 0; annotation->totals && event < annotation->event_count; event++)
		if (annotation->totals[event].samples)
			event_columns_add(&table->columns, event, event_names[event]);
	event_columns_add_own(&table->columns, last_columns, LAST_COLUMNS);
	const struct annotated_line *hottest = annotation->hottest == UINT32_MAX ? NULL : &annotation->lines.items[annotation->hottest];
	struct line_sum line = hottest_line(annotation);
	if (line.number)
		str_printf(&table->hottest_line, "%s:%u", line.file, line.number);
	const struct table_fact facts[] = {
		{ "symbol", cell_text(annotation->name) },
		{ "module", cell_text(annotation->module->long_name) },
		{ "file", cell_text(annotation->path) },
		{ "size", cell_count(annotation->size) },
		{ "hottest", hottest ? cell_address(hottest->address) : cell_absent() },
		{ "hottest_line", line.number ? cell_text(str_text(&table->hottest_line)) : cell_absent() },
		{ "hottest_line_share", line.number ? share_of_function(annotation, &line) : cell_absent() },
		{ "missing", cell_text(annotation->missing.kind == ERROR_NONE ? NULL : annotation->missing.text) },
	};
	memcpy(table->facts, facts, sizeof facts);
	table->table = (struct table){ .name = "code", .facts = table->facts, .fact_count = sizeof facts / sizeof *facts,
		.columns = table->columns.columns.items, .column_count = table->columns.columns.count, .context = table, .row_count = code_row_count,
		.row = table_row_in_order, .cell = code_cell };
}

void annotation_table_fini(struct annotation_table *table)
{
	event_columns_fini(&table->columns);
	str_fini(&table->hottest_line);
}
