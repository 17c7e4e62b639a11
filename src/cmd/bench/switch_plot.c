#include "cmd/bench/switch_plot.h"

#include <string.h>

enum { BAR_MAX = 50 };

static struct cell bar_cell(uint64_t value, uint64_t largest, struct str *scratch)
{
	uint64_t length = largest ? (value * BAR_MAX + largest - 1) / largest : 0;
	str_clear(scratch);
	for (uint64_t i = 0; i < length; i++)
		str_putc(scratch, '#');
	return cell_text(str_text(scratch));
}

void latency_bars_make(struct latency_bars *bars, const struct switch_rows *rows)
{
	for (size_t run = 0; run < rows->list.count; run++) {
		const struct latency *latency = &rows->list.items[run].result.latency;
		size_t first = bars->list.count;
		uint64_t largest = 0;
		for (uint32_t class = 0; class < LATENCY_CLASSES; class += LATENCY_SUB) {
			uint64_t count = 0;
			for (uint32_t i = 0; i < LATENCY_SUB; i++)
				count += latency->classes[class + i];
			uint64_t end = class + LATENCY_SUB < LATENCY_CLASSES ? latency_class_start(class + LATENCY_SUB) : UINT64_MAX;
			if (count)
				vec_push(&bars->list, ((struct latency_bar){ run + 1, latency_class_start(class), end, count, 0 }));
			largest = count > largest ? count : largest;
		}
		for (size_t i = first; i < bars->list.count; i++)
			bars->list.items[i].largest = largest;
	}
}

static const struct table_column latency_columns[] = {
	{ "run", "Run", NULL, CELL_COUNT }, { "from", "From", "ns", CELL_COUNT }, { "to", "To", "ns", CELL_COUNT },
	{ "rounds", "Rounds", NULL, CELL_COUNT }, { "bar", "", NULL, CELL_TEXT },
};

static size_t latency_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ((const struct latency_bars *)context)->list.count : 0;
}

static struct cell latency_cell(void *context, uint64_t number, size_t column, struct str *scratch)
{
	const struct latency_bar *bar = &((const struct latency_bars *)context)->list.items[number - 1];
	switch (column) {
	case 0:
		return cell_count(bar->run);
	case 1:
		return cell_count(bar->from_ns);
	case 2:
		return cell_count(bar->to_ns);
	case 3:
		return cell_count(bar->count);
	default:
		return bar_cell(bar->count, bar->largest, scratch);
	}
}

struct table latency_bars_table(const struct latency_bars *latencies, bool bars)
{
	return (struct table){ .name = "latencies", .columns = latency_columns, .column_count = bars ? 5 : 4,
		.context = (void *)(uintptr_t)latencies, .row_count = latency_count, .row = table_row_in_order, .cell = latency_cell };
}

static uint64_t per_turn(const struct turns_result *result)
{
	return result->turns ? (result->wall_ns + result->turns / 2) / result->turns : 0;
}

static size_t sweep_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ((const struct switch_sweep *)context)->rows->list.count : 0;
}

static struct cell sweep_cell(void *context, uint64_t number, size_t column, struct str *scratch)
{
	const struct switch_sweep *sweep = context;
	const struct switch_row *row = &sweep->rows->list.items[number - 1];
	uint64_t largest = 0;
	if (column == 0)
		return cell_count(sweep->value(&row->plan));
	if (column == 1)
		return cell_time(per_turn(&row->result));
	for (size_t i = 0; i < sweep->rows->list.count; i++) {
		uint64_t other = per_turn(&sweep->rows->list.items[i].result);
		largest = other > largest ? other : largest;
	}
	return bar_cell(per_turn(&row->result), largest, scratch);
}

struct table sweep_table(struct switch_sweep *sweep)
{
	sweep->columns[0] = (struct table_column){ sweep->of, sweep->of, NULL, CELL_COUNT };
	sweep->columns[1] = (struct table_column){ "per_turn", "Per turn", "ns", CELL_TIME };
	sweep->columns[2] = (struct table_column){ "bar", "", NULL, CELL_TEXT };
	return (struct table){ .name = "sweep", .columns = sweep->columns, .column_count = 3, .context = sweep, .row_count = sweep_count,
		.row = table_row_in_order, .cell = sweep_cell };
}
