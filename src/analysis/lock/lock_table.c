#include "analysis/lock/lock_table.h"

#include "analysis/lock/lock_names.h"
#include "analysis/lock/lock_type.h"

enum { COLUMN_ACQUIRED, COLUMN_CONTENDED, COLUMN_TOTAL, COLUMN_MAX, COLUMN_MIN, COLUMN_AVERAGE, COLUMN_TYPE, COLUMN_KEY, COLUMN_NAME,
	COLUMNS };

static const struct table_column all_columns[][COLUMNS] = {
#define VALUES                                                                                                        \
	{ "acquired", "Acquired", NULL, CELL_COUNT }, { "contended", "Contended", NULL, CELL_COUNT },                 \
	{ "wait_total", "Total wait", "ns", CELL_TIME }, { "wait_max", "Max wait", "ns", CELL_TIME },                 \
	{ "wait_min", "Min wait", "ns", CELL_TIME }, { "avg_wait", "Avg wait", "ns", CELL_TIME }, { "type", "Type", NULL, CELL_TEXT }
	[LOCK_GROUP_ADDRESS] = { VALUES, { "address", "Address", NULL, CELL_ADDRESS }, { "symbol", "Symbol", NULL, CELL_TEXT } },
	[LOCK_GROUP_TASK] = { VALUES, { "tid", "TID", NULL, CELL_NUMBER }, { "comm", "Command", NULL, CELL_TEXT } },
	[LOCK_GROUP_CALLER] = { VALUES, { "stack", "Stack", NULL, CELL_TEXT }, { "caller", "Caller", NULL, CELL_TEXT } },
	[LOCK_GROUP_CGROUP] = { VALUES, { "cgroup_id", "Cgroup id", NULL, CELL_COUNT }, { "cgroup", "Cgroup", NULL, CELL_TEXT } },
#undef VALUES
};

static size_t row_count(void *context, uint64_t parent)
{
	const struct lock_table *t = context;
	return parent == TABLE_TOP ? t->order->list.count : 0;
}

/* Innermost first, separated by semicolons. */
static struct cell stack_cell(const struct lock_stat *stat, struct str *scratch)
{
	char text[256];
	str_clear(scratch);
	for (uint32_t i = 0; i < stat->frame_count; i++) {
		lock_frame_text(&stat->frames[i], text, sizeof text);
		str_printf(scratch, "%s%s", i ? ";" : "", *text ? text : "[unknown]");
	}
	return cell_text(scratch->len ? scratch->text : NULL);
}

static struct cell key_cell(const struct lock_table *t, const struct lock_stat *stat, struct str *scratch)
{
	switch (t->group) {
	case LOCK_GROUP_ADDRESS:
		return cell_address(stat->key);
	case LOCK_GROUP_TASK:
		return (int32_t)stat->key == -1 ? cell_absent() : cell_number((int32_t)stat->key);
	case LOCK_GROUP_CGROUP:
		return cell_count(stat->key);
	default:
		return stack_cell(stat, scratch);
	}
}

static struct cell cell_at(void *context, uint64_t row, size_t column, struct str *scratch)
{
	static const enum lock_field_id fields[] = { LOCK_ACQUIRED, LOCK_CONTENDED, LOCK_WAIT_TOTAL, LOCK_WAIT_MAX, LOCK_WAIT_MIN, LOCK_AVG_WAIT };
	const struct lock_table *t = context;
	const struct lock_stat *stat = t->order->list.items[row - 1];
	column += t->acquired ? 0 : 1;
	switch (column) {
	case COLUMN_TYPE:
		return t->acquired || t->group == LOCK_GROUP_TASK || t->group == LOCK_GROUP_CGROUP ? cell_absent() :
			cell_text(lock_type_text(stat->flags));
	case COLUMN_KEY:
		return key_cell(t, stat, scratch);
	case COLUMN_NAME:
		return cell_text(*stat->name ? stat->name : NULL);
	default: {
		uint64_t value = lock_stat_value(stat, fields[column]);
		return lock_fields[fields[column]].time ? cell_time(value) : cell_count(value);
	}
	}
}

void lock_table_init(struct lock_table *t, const struct lock_order *order, enum lock_group group, bool acquired)
{
	*t = (struct lock_table){ .order = order, .group = group, .acquired = acquired };
	t->table = (struct table){ .name = "locks", .columns = all_columns[group] + !acquired, .column_count = COLUMNS - !acquired,
		.context = t, .row_count = row_count, .row = table_row_in_order, .cell = cell_at };
}
