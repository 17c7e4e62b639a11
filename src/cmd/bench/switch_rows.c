#include "cmd/bench/switch_rows.h"

enum { COLUMN_WAY, COLUMN_MODEL, COLUMN_PAIRS, COLUMN_BYTES, COLUMN_WORK, COLUMN_SET, COLUMN_TURNS, COLUMN_WALL, COLUMN_RATE, COLUMN_TURN,
	COLUMN_MIN, COLUMN_MEDIAN, COLUMN_P90, COLUMN_P99, COLUMN_MAX, COLUMN_USER, COLUMN_SYSTEM, COLUMN_VOLUNTARY, COLUMN_INVOLUNTARY,
	COLUMN_MINOR, COLUMN_MAJOR, COLUMN_COUNTERS, COLUMNS = COLUMN_COUNTERS + SWITCH_COUNTERS };

static const struct table_column columns[COLUMNS] = {
	[COLUMN_WAY] = { "way", "Way", NULL, CELL_TEXT },
	[COLUMN_MODEL] = { "model", "Model", NULL, CELL_TEXT },
	[COLUMN_PAIRS] = { "pairs", "Pairs", NULL, CELL_COUNT },
	[COLUMN_BYTES] = { "bytes", "Bytes", NULL, CELL_COUNT },
	[COLUMN_WORK] = { "work", "Work", "ns", CELL_TIME },
	[COLUMN_SET] = { "set", "Set", NULL, CELL_BYTES },
	[COLUMN_TURNS] = { "turns", "Turns", NULL, CELL_COUNT },
	[COLUMN_WALL] = { "wall", "Wall", "ns", CELL_TIME },
	[COLUMN_RATE] = { "turns_per_second", "Turns/s", NULL, CELL_COUNT },
	[COLUMN_TURN] = { "per_turn", "Per turn", "ns", CELL_TIME },
	[COLUMN_MIN] = { "latency_min", "Min", "ns", CELL_TIME },
	[COLUMN_MEDIAN] = { "latency_median", "Median", "ns", CELL_TIME },
	[COLUMN_P90] = { "latency_p90", "90 %", "ns", CELL_TIME },
	[COLUMN_P99] = { "latency_p99", "99 %", "ns", CELL_TIME },
	[COLUMN_MAX] = { "latency_max", "Max", "ns", CELL_TIME },
	[COLUMN_USER] = { "user", "User", "ns", CELL_TIME },
	[COLUMN_SYSTEM] = { "system", "System", "ns", CELL_TIME },
	[COLUMN_VOLUNTARY] = { "voluntary_switches", "Waits", NULL, CELL_COUNT },
	[COLUMN_INVOLUNTARY] = { "involuntary_switches", "Preempted", NULL, CELL_COUNT },
	[COLUMN_MINOR] = { "minor_faults", "Faults", NULL, CELL_COUNT },
	[COLUMN_MAJOR] = { "major_faults", "Major faults", NULL, CELL_COUNT },
	[COLUMN_COUNTERS + SWITCH_CYCLES] = { "cycles", "Cycles", NULL, CELL_COUNT },
	[COLUMN_COUNTERS + SWITCH_INSTRUCTIONS] = { "instructions", "Instructions", NULL, CELL_COUNT },
	[COLUMN_COUNTERS + SWITCH_CACHE_MISSES] = { "cache_misses", "Cache misses", NULL, CELL_COUNT },
	[COLUMN_COUNTERS + SWITCH_DTLB_MISSES] = { "dtlb_load_misses", "dTLB misses", NULL, CELL_COUNT },
};

static size_t row_count(void *context, uint64_t parent)
{
	const struct switch_rows *rows = context;
	return parent == TABLE_TOP ? rows->list.count : 0;
}

static struct cell plan_cell(const struct turns_plan *plan, size_t column)
{
	bool pairs = turn_way_has_pairs(plan->way);
	switch (column) {
	case COLUMN_WAY:
		return cell_text(turn_way_name(plan->way));
	case COLUMN_MODEL:
		return cell_text(turn_model_name(plan->model));
	case COLUMN_PAIRS:
		return cell_count(plan->pairs);
	case COLUMN_BYTES:
		return pairs && plan->way != TURN_FUTEX ? cell_count(plan->bytes) : cell_absent();
	case COLUMN_WORK:
		return plan->work_ns ? cell_time(plan->work_ns) : cell_absent();
	default:
		return plan->set_bytes ? cell_bytes(plan->set_bytes) : cell_absent();
	}
}

static struct cell result_cell(void *context, uint64_t number, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct switch_rows *rows = context;
	const struct switch_row *row = &rows->list.items[number - 1];
	const struct turns_result *result = &row->result;
	if (column < COLUMN_TURNS)
		return plan_cell(&row->plan, column);
	if (column >= COLUMN_COUNTERS) {
		const struct switch_count *count = &row->counters.counts[column - COLUMN_COUNTERS];
		return count->known ? cell_count(count->value) : cell_absent();
	}
	double seconds = (double)result->wall_ns / 1e9;
	switch (column) {
	case COLUMN_TURNS:
		return cell_count(result->turns);
	case COLUMN_RATE:
		return seconds > 0 ? cell_count((uint64_t)((double)result->turns / seconds + 0.5)) : cell_absent();
	case COLUMN_TURN:
		return result->turns ? cell_time((result->wall_ns + result->turns / 2) / result->turns) : cell_absent();
	case COLUMN_VOLUNTARY:
		return cell_count(result->voluntary);
	case COLUMN_INVOLUNTARY:
		return cell_count(result->involuntary);
	case COLUMN_MINOR:
		return cell_count(result->minor_faults);
	case COLUMN_MAJOR:
		return cell_count(result->major_faults);
	default:
		break;
	}
	const uint64_t times[COLUMNS] = { [COLUMN_WALL] = result->wall_ns, [COLUMN_MIN] = result->latency.min_ns,
		[COLUMN_MEDIAN] = latency_quantile(&result->latency, 0.5), [COLUMN_P90] = latency_quantile(&result->latency, 0.9),
		[COLUMN_P99] = latency_quantile(&result->latency, 0.99), [COLUMN_MAX] = result->latency.max_ns,
		[COLUMN_USER] = result->user_ns, [COLUMN_SYSTEM] = result->system_ns };
	return cell_time(times[column]);
}

struct table switch_table(const struct switch_rows *rows)
{
	return (struct table){ .name = "switches", .columns = columns, .column_count = COLUMNS, .context = (void *)(uintptr_t)rows,
		.row_count = row_count, .row = table_row_in_order, .cell = result_cell };
}
