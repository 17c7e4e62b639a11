#include "analysis/table/table.h"

uint64_t table_row_in_order(void *context, uint64_t parent, size_t index)
{
	return TABLE_TOP + 1 + index;
}

static size_t first_count(void *context, uint64_t parent)
{
	const struct table_first *first = context;
	size_t count = first->table->row_count(first->table->context, parent);
	return count < first->most ? count : first->most;
}

static uint64_t first_row(void *context, uint64_t parent, size_t index)
{
	const struct table_first *first = context;
	return first->table->row(first->table->context, parent, index);
}

static struct cell first_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct table_first *first = context;
	return first->table->cell(first->table->context, row, column, scratch);
}

struct table table_first(struct table_first *first, const struct table *table, size_t most)
{
	*first = (struct table_first){ .table = table, .most = most };
	struct table result = *table;
	result.context = first;
	result.row_count = first_count;
	result.row = first_row;
	result.cell = first_cell;
	result.detail = NULL;
	return result;
}

void table_walk_init(struct table_walk *walk, const struct table *table)
{
	*walk = (struct table_walk){ .table = table };
	vec_push(&walk->levels, ((struct table_level){ .parent = TABLE_TOP, .count = table->row_count(table->context, TABLE_TOP) }));
}

void table_walk_fini(struct table_walk *walk)
{
	vec_fini(&walk->levels);
}

bool table_walk_next(struct table_walk *walk)
{
	const struct table *table = walk->table;
	/* continue with the rows below the current row */
	if (walk->begun && table->tree) {
		size_t count = table->row_count(table->context, walk->row);
		if (count)
			vec_push(&walk->levels, ((struct table_level){ .parent = walk->row, .count = count }));
	}
	walk->begun = true;
	while (walk->levels.count && walk->levels.items[walk->levels.count - 1].next == walk->levels.items[walk->levels.count - 1].count)
		walk->levels.count--;
	if (!walk->levels.count)
		return false;
	struct table_level *level = &walk->levels.items[walk->levels.count - 1];
	walk->row = table->row(table->context, level->parent, level->next++);
	walk->depth = walk->levels.count - 1;
	return true;
}
