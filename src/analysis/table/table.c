#include "analysis/table/table.h"

uint64_t table_row_in_order(void *context, uint64_t parent, size_t index)
{
	return TABLE_TOP + 1 + index;
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
