#include <stdio.h>

#include "analysis/datatype/type_hits.h"

enum first_column { COLUMN_OFFSET, COLUMN_SIZE, COLUMN_TYPE, COLUMN_FIELD, FIRST_COLUMNS };

static const struct table_column first_columns[FIRST_COLUMNS] = {
	[COLUMN_OFFSET] = { "offset", "Offset", "bytes", CELL_COUNT },
	[COLUMN_SIZE] = { "size", "Size", "bytes", CELL_COUNT },
	[COLUMN_TYPE] = { "type", "Type", NULL, CELL_TEXT },
	[COLUMN_FIELD] = { "field", "Field", NULL, CELL_TEXT },
};

/* Rows are numbered from 1: the type itself, then its members. */
static uint64_t type_row(void *context, uint64_t parent, size_t index)
{
	const struct type_table *table = context;
	uint32_t depth = parent > 1 ? table->type->members.items[parent - 2].depth + 1 : 1;
	if (parent == TABLE_TOP)
		return 1;
	for (size_t i = parent - 1; i < table->type->members.count; i++)
		if (table->type->members.items[i].depth == depth && !index--)
			return i + 2;
	return TABLE_TOP;
}

static size_t type_row_count(void *context, uint64_t parent)
{
	const struct type_table *table = context;
	uint32_t depth = parent > 1 ? table->type->members.items[parent - 2].depth + 1 : 1;
	size_t count = 0;
	if (parent == TABLE_TOP)
		return 1;
	for (size_t i = parent - 1; i < table->type->members.count && table->type->members.items[i].depth >= depth; i++)
		count += table->type->members.items[i].depth == depth;
	return count;
}

static struct cell type_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct type_table *table = context;
	struct data_member whole = { .type = table->type->name, .size = table->type->size };
	const struct data_member *member = row > 1 ? &table->type->members.items[row - 2] : &whole;
	if (column == COLUMN_OFFSET || column == COLUMN_SIZE)
		return cell_count(column == COLUMN_OFFSET ? member->offset : member->size);
	if (column < FIRST_COLUMNS)
		return cell_text(column == COLUMN_TYPE ? member->type : member->name);
	uint32_t event = table->columns.events.items[(column - FIRST_COLUMNS) / EVENT_COLUMNS];
	struct hit_count count = type_sum_range(table->sum, event, member->offset, member->size);
	return event_columns_cell((column - FIRST_COLUMNS) % EVENT_COLUMNS, count, table->sum->inside[event].period);
}

void type_table_init(struct type_table *table, const struct type_hits *list, const struct type_sum *sum, const struct modules *modules,
	const char *const *event_names)
{
	uint64_t samples = 0;
	*table = (struct type_table){ .sum = sum, .type = data_types_get(list->types, sum->type) };
	event_columns_add_own(&table->columns, first_columns, FIRST_COLUMNS);
	for (uint32_t event = 0; event < list->event_count; event++)
		if (sum->totals[event].samples) {
			event_columns_add(&table->columns, event, event_names[event]);
			samples += sum->totals[event].samples;
		}
	table->facts[0] = (struct table_fact){ "type", cell_text(table->type->name) };
	table->facts[1] = (struct table_fact){ "module", cell_text(modules_get(modules, table->type->module)->long_name) };
	table->facts[2] = (struct table_fact){ "size", cell_count(table->type->size) };
	table->facts[3] = (struct table_fact){ "samples", cell_count(samples) };
	table->table = (struct table){ .name = "type", .facts = table->facts, .fact_count = 4, .columns = table->columns.columns.items,
		.column_count = table->columns.columns.count, .tree = true, .context = table, .row_count = type_row_count, .row = type_row,
		.cell = type_cell };
}

void type_table_fini(struct type_table *table)
{
	event_columns_fini(&table->columns);
}
