#include "analysis/ipc/ipc_tables.h"

void ipc_result_fini(struct ipc_result *result)
{
	for (size_t i = 0; i < result->windows.count; i++)
		vec_fini(&result->windows.items[i].list);
	vec_fini(&result->windows);
	vec_fini(&result->steady);
	vec_fini(&result->around.rows);
}

static struct cell cell_real(double real)
{
	return (struct cell){ .kind = CELL_REAL, .real = real };
}

static struct cell cell_id(int32_t id)
{
	return id >= 0 ? cell_number(id) : cell_absent();
}

static struct cell time_in_data(const struct ipc_result *result, uint64_t ns)
{
	return result->data && !result->tracks->timeless ? cell_time(ns) : cell_absent();
}

static struct cell time_from_first(const struct ipc_result *result, uint64_t ns)
{
	return result->tracks->timeless ? cell_absent() : cell_time(ns - result->first_ns);
}

static struct cell track_name(const struct ipc_result *result, const struct ipc_track *track)
{
	const char *name = strtab_text(&result->tracks->names, track->comm);
	return cell_text(*name ? name : NULL);
}

/* Rows of lists by track, one list after the other: the track of a row, and its index there. */
static size_t find_row(size_t row, size_t tracks, size_t (*count)(const struct ipc_result *, size_t), const struct ipc_result *result,
	size_t *index)
{
	size_t track = 0;
	for (*index = row - 1; track + 1 < tracks && *index >= count(result, track); track++)
		*index -= count(result, track);
	return track;
}

static size_t window_count(const struct ipc_result *result, size_t track)
{
	return result->windows.items[track].list.count;
}

static size_t event_count(const struct ipc_result *result, size_t track)
{
	return result->tracks->list.items[track].events.count;
}

static size_t sum_counts(const struct ipc_result *result, size_t (*count)(const struct ipc_result *, size_t))
{
	size_t sum = 0;
	for (size_t i = 0; i < result->tracks->list.count; i++)
		sum += count(result, i);
	return sum;
}

enum { WINDOW_CPU, WINDOW_TID, WINDOW_COMM, WINDOW_AT, WINDOW_FROM_NS, WINDOW_TO_NS, WINDOW_LENGTH, WINDOW_FROM_CYCLE, WINDOW_CYCLES,
	WINDOW_INSTRUCTIONS, WINDOW_CONSERVATIVE, WINDOW_LINEAR, WINDOW_OPTIMISTIC, WINDOW_INTERIOR, WINDOW_LEADING, WINDOW_TRAILING,
	WINDOW_LEAST, WINDOW_MOST, WINDOW_LONGEST, WINDOW_NOTE, WINDOW_COLUMNS };

static const struct table_column window_columns[WINDOW_COLUMNS] = {
	{ "cpu", "CPU", NULL, CELL_NUMBER }, { "tid", "TID", NULL, CELL_NUMBER }, { "comm", "Command", NULL, CELL_TEXT },
	{ "at", "At", "ns", CELL_TIME }, { "from_ns", "From", "ns", CELL_TIME }, { "to_ns", "To", "ns", CELL_TIME },
	{ "length", "Length", "ns", CELL_TIME }, { "from_cycle", "Cycle", NULL, CELL_COUNT }, { "cycles", "Cycles", NULL, CELL_COUNT },
	{ "instructions", "Instructions", NULL, CELL_COUNT }, { "conservative", "Conservative", NULL, CELL_REAL },
	{ "linear", "Linear", NULL, CELL_REAL }, { "optimistic", "Optimistic", NULL, CELL_REAL },
	{ "interior", "Interior", NULL, CELL_COUNT }, { "leading", "Leading", NULL, CELL_COUNT },
	{ "trailing", "Trailing", NULL, CELL_COUNT }, { "least", "Least", NULL, CELL_COUNT }, { "most", "Most", NULL, CELL_COUNT },
	{ "longest_range", "Longest range", NULL, CELL_COUNT }, { "note", "Note", NULL, CELL_TEXT },
};

static size_t windows_row_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? sum_counts(context, window_count) : 0;
}

static struct cell window_counts(const struct ipc_result *result, const struct ipc_window *window, size_t column)
{
	if (!result->data)
		return cell_absent();
	switch (column) {
	case WINDOW_INTERIOR:
		return cell_count(window->interior);
	case WINDOW_LEADING:
		return cell_count(window->leading);
	case WINDOW_TRAILING:
		return cell_count(window->trailing);
	case WINDOW_LEAST:
		return cell_count(window->least);
	default:
		return cell_count(window->most);
	}
}

static struct cell window_cell(void *context, uint64_t row, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct ipc_result *result = context;
	size_t index, number = find_row(row, result->windows.count, window_count, result, &index);
	const struct ipc_track *track = &result->tracks->list.items[number];
	const struct ipc_window *window = &result->windows.items[number].list.items[index];
	switch (column) {
	case WINDOW_CPU:
		return cell_id(track->cpu);
	case WINDOW_TID:
		return cell_id(track->tid);
	case WINDOW_COMM:
		return track_name(result, track);
	case WINDOW_AT:
		return time_from_first(result, window->from_ns);
	case WINDOW_FROM_NS:
		return time_in_data(result, window->from_ns);
	case WINDOW_TO_NS:
		return time_in_data(result, window->to_ns);
	case WINDOW_LENGTH:
		return result->tracks->timeless ? cell_absent() : cell_time(window->to_ns - window->from_ns);
	case WINDOW_FROM_CYCLE:
		return cell_count(window->from_cycle);
	case WINDOW_CYCLES:
		return cell_count(ipc_window_cycles(window));
	case WINDOW_INSTRUCTIONS:
		return cell_count(window->instructions);
	case WINDOW_CONSERVATIVE:
		return cell_real(ipc_window_rate(window, (double)window->least));
	case WINDOW_LINEAR:
		return cell_real(ipc_window_rate(window, window->linear));
	case WINDOW_OPTIMISTIC:
		return cell_real(ipc_window_rate(window, (double)window->most));
	case WINDOW_LONGEST:
		return result->data || (result->limit && window->longest > result->limit) ? cell_count(window->longest) : cell_absent();
	case WINDOW_NOTE:
		return cell_text(window->gap ? "gap" : result->limit && window->longest > result->limit ? "long range" :
			ipc_window_uncertain(window) ? "uncertain" : NULL);
	default:
		return window_counts(result, window, column);
	}
}

struct table ipc_windows_table(const struct ipc_result *result)
{
	return (struct table){ .name = "windows", .columns = window_columns, .column_count = WINDOW_COLUMNS, .context = (void *)result,
		.row_count = windows_row_count, .row = table_row_in_order, .cell = window_cell };
}

enum { TRACK_CPU, TRACK_TID, TRACK_COMM, TRACK_RANGES, TRACK_CYCLES, TRACK_INSTRUCTIONS, TRACK_IPC, TRACK_FROM_NS, TRACK_TO_NS,
	TRACK_LENGTH, TRACK_EVENTS, TRACK_GAPS, TRACK_SOURCE, TRACK_COLUMNS };

static const struct table_column track_columns[TRACK_COLUMNS] = {
	{ "cpu", "CPU", NULL, CELL_NUMBER }, { "tid", "TID", NULL, CELL_NUMBER }, { "comm", "Command", NULL, CELL_TEXT },
	{ "ranges", "Timed ranges", NULL, CELL_COUNT }, { "cycles", "Cycles", NULL, CELL_COUNT },
	{ "instructions", "Instructions", NULL, CELL_COUNT }, { "ipc", "IPC", NULL, CELL_REAL }, { "from_ns", "From", "ns", CELL_TIME },
	{ "to_ns", "To", "ns", CELL_TIME }, { "length", "Length", "ns", CELL_TIME }, { "events", "Events", NULL, CELL_COUNT },
	{ "gaps", "Gaps", NULL, CELL_COUNT }, { "source", "Source", NULL, CELL_TEXT },
};

static size_t tracks_row_count(void *context, uint64_t parent)
{
	const struct ipc_result *result = context;
	return parent == TABLE_TOP ? result->tracks->list.count : 0;
}

static struct cell track_cell(void *context, uint64_t row, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct ipc_result *result = context;
	const struct ipc_track *track = &result->tracks->list.items[row - 1];
	uint64_t from = track->ranges.items[0].from_ns, to = track->ranges.items[track->ranges.count - 1].to_ns;
	switch (column) {
	case TRACK_CPU:
		return cell_id(track->cpu);
	case TRACK_TID:
		return cell_id(track->tid);
	case TRACK_COMM:
		return track_name(result, track);
	case TRACK_RANGES:
		return cell_count(track->ranges.count);
	case TRACK_CYCLES:
		return cell_count(track->cycles);
	case TRACK_INSTRUCTIONS:
		return cell_count(track->instructions);
	case TRACK_IPC:
		return track->cycles ? cell_real((double)track->instructions / (double)track->cycles) : cell_absent();
	case TRACK_FROM_NS:
		return time_in_data(result, from);
	case TRACK_TO_NS:
		return time_in_data(result, to);
	case TRACK_LENGTH:
		return result->tracks->timeless ? cell_absent() : cell_time(to - from);
	case TRACK_EVENTS:
		return cell_count(track->events.count);
	case TRACK_GAPS:
		return cell_count(track->gaps);
	default:
		return cell_text(result->tracks->counted ? "counters" : "trace");
	}
}

struct table ipc_tracks_table(const struct ipc_result *result)
{
	return (struct table){ .name = "tracks", .columns = track_columns, .column_count = TRACK_COLUMNS, .context = (void *)result,
		.row_count = tracks_row_count, .row = table_row_in_order, .cell = track_cell };
}

enum { EVENT_CPU, EVENT_TID, EVENT_AT, EVENT_FROM_NS, EVENT_TO_NS, EVENT_LENGTH, EVENT_FROM_CYCLE, EVENT_CYCLES, EVENT_KIND, EVENT_NAME,
	EVENT_COLUMNS };

static const struct table_column event_columns[EVENT_COLUMNS] = {
	{ "cpu", "CPU", NULL, CELL_NUMBER }, { "tid", "TID", NULL, CELL_NUMBER }, { "at", "At", "ns", CELL_TIME },
	{ "from_ns", "From", "ns", CELL_TIME }, { "to_ns", "To", "ns", CELL_TIME }, { "length", "Length", "ns", CELL_TIME },
	{ "from_cycle", "Cycle", NULL, CELL_COUNT }, { "cycles", "Traced cycles", NULL, CELL_COUNT }, { "event", "Event", NULL, CELL_TEXT },
	{ "name", "Name", NULL, CELL_TEXT },
};

static size_t events_row_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? sum_counts(context, event_count) : 0;
}

static struct cell event_cell(void *context, uint64_t row, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct ipc_result *result = context;
	size_t index, number = find_row(row, result->tracks->list.count, event_count, result, &index);
	const struct ipc_track *track = &result->tracks->list.items[number];
	const struct ipc_event *event = &track->events.items[index];
	const char *name = strtab_text(&result->tracks->names, event->name);
	switch (column) {
	case EVENT_CPU:
		return cell_id(track->cpu);
	case EVENT_TID:
		return cell_id(track->tid);
	case EVENT_AT:
		return event->from_ns >= result->first_ns ? time_from_first(result, event->from_ns) : cell_absent();
	case EVENT_FROM_NS:
		return time_in_data(result, event->from_ns);
	case EVENT_TO_NS:
		return time_in_data(result, event->to_ns);
	case EVENT_LENGTH:
		return event->to_ns > event->from_ns ? cell_time(event->to_ns - event->from_ns) : cell_absent();
	case EVENT_FROM_CYCLE:
		return cell_count(event->from_cycle);
	case EVENT_CYCLES:
		return event->to_cycle > event->from_cycle ? cell_count(event->to_cycle - event->from_cycle) : cell_absent();
	case EVENT_KIND:
		return cell_text(ipc_event_word(event->kind));
	default:
		return cell_text(*name ? name : NULL);
	}
}

struct table ipc_events_table(const struct ipc_result *result)
{
	return (struct table){ .name = "events", .columns = event_columns, .column_count = EVENT_COLUMNS, .context = (void *)result,
		.row_count = events_row_count, .row = table_row_in_order, .cell = event_cell };
}

enum { RANGE_CPU, RANGE_TID, RANGE_AT, RANGE_FROM_NS, RANGE_TO_NS, RANGE_LENGTH, RANGE_FROM_CYCLE, RANGE_CYCLES, RANGE_INSTRUCTIONS,
	RANGE_IPC, RANGE_NOTE, RANGE_COLUMNS };

static const struct table_column range_columns[RANGE_COLUMNS] = {
	{ "cpu", "CPU", NULL, CELL_NUMBER }, { "tid", "TID", NULL, CELL_NUMBER }, { "at", "At", "ns", CELL_TIME },
	{ "from_ns", "From", "ns", CELL_TIME }, { "to_ns", "To", "ns", CELL_TIME }, { "length", "Length", "ns", CELL_TIME },
	{ "from_cycle", "Cycle", NULL, CELL_COUNT }, { "cycles", "Cycles", NULL, CELL_COUNT },
	{ "instructions", "Instructions", NULL, CELL_COUNT }, { "ipc", "IPC", NULL, CELL_REAL }, { "note", "Note", NULL, CELL_TEXT },
};

static size_t range_count(const struct ipc_result *result, size_t track)
{
	return result->tracks->list.items[track].ranges.count;
}

static size_t ranges_row_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? sum_counts(context, range_count) : 0;
}

static struct cell range_cell(void *context, uint64_t row, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct ipc_result *result = context;
	size_t index, number = find_row(row, result->tracks->list.count, range_count, result, &index);
	const struct ipc_track *track = &result->tracks->list.items[number];
	const struct ipc_range *range = &track->ranges.items[index];
	uint64_t cycles = range->to_cycle - range->from_cycle;
	switch (column) {
	case RANGE_CPU:
		return cell_id(track->cpu);
	case RANGE_TID:
		return cell_id(track->tid);
	case RANGE_AT:
		return time_from_first(result, range->from_ns);
	case RANGE_FROM_NS:
		return time_in_data(result, range->from_ns);
	case RANGE_TO_NS:
		return time_in_data(result, range->to_ns);
	case RANGE_LENGTH:
		return result->tracks->timeless ? cell_absent() : cell_time(range->to_ns - range->from_ns);
	case RANGE_FROM_CYCLE:
		return cell_count(range->from_cycle);
	case RANGE_CYCLES:
		return cell_count(cycles);
	case RANGE_INSTRUCTIONS:
		return cell_count(range->instructions);
	case RANGE_IPC:
		return cycles ? cell_real((double)range->instructions / (double)cycles) : cell_absent();
	default:
		return cell_text(range->gap ? "gap" : result->limit && cycles > result->limit ? "long range" : NULL);
	}
}

struct table ipc_ranges_table(const struct ipc_result *result)
{
	return (struct table){ .name = "ranges", .columns = range_columns, .column_count = RANGE_COLUMNS, .context = (void *)result,
		.row_count = ranges_row_count, .row = table_row_in_order, .cell = range_cell };
}

enum { LENGTH_CYCLES, LENGTH_RANGES, LENGTH_SHARE, LENGTH_SUM, LENGTH_TIME, LENGTH_TIME_SUM, LENGTH_COLUMNS };

static const struct table_column length_columns[LENGTH_COLUMNS] = {
	{ "cycles", "Up to (cycles)", NULL, CELL_COUNT }, { "ranges", "Ranges", NULL, CELL_COUNT }, { "share", "Of ranges", NULL, CELL_SHARE },
	{ "share_up_to", "Up to here", NULL, CELL_SHARE }, { "time_share", "Of time", NULL, CELL_SHARE },
	{ "time_share_up_to", "Time up to here", NULL, CELL_SHARE },
};

static size_t lengths_row_count(void *context, uint64_t parent)
{
	const struct ipc_result *result = context;
	return parent == TABLE_TOP ? result->lengths.count : 0;
}

static struct cell cell_share(uint64_t part, uint64_t whole)
{
	return (struct cell){ .kind = CELL_SHARE, .share = { part, whole } };
}

static struct cell length_cell(void *context, uint64_t row, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct ipc_result *result = context;
	const struct ipc_lengths *lengths = &result->lengths;
	uint64_t ranges = 0, weight = 0;
	for (size_t i = 0; i < row; i++) {
		ranges += lengths->rows[i].ranges;
		weight += lengths->rows[i].weight;
	}
	switch (column) {
	case LENGTH_CYCLES:
		return cell_count(lengths->rows[row - 1].cycles);
	case LENGTH_RANGES:
		return cell_count(lengths->rows[row - 1].ranges);
	case LENGTH_SHARE:
		return cell_share(lengths->rows[row - 1].ranges, lengths->ranges);
	case LENGTH_SUM:
		return cell_share(ranges, lengths->ranges);
	case LENGTH_TIME:
		return cell_share(lengths->rows[row - 1].weight, lengths->cycles);
	default:
		return cell_share(weight, lengths->cycles);
	}
}

struct table ipc_lengths_table(const struct ipc_result *result)
{
	return (struct table){ .name = "lengths", .columns = length_columns, .column_count = LENGTH_COLUMNS, .context = (void *)result,
		.row_count = lengths_row_count, .row = table_row_in_order, .cell = length_cell };
}

enum { AROUND_FROM, AROUND_TO, AROUND_COUNT, AROUND_IPC, AROUND_LOW, AROUND_HIGH, AROUND_LEAST, AROUND_MOST, AROUND_COLUMNS };

static const struct table_column around_columns[AROUND_COLUMNS] = {
	{ "from", "From", NULL, CELL_NUMBER }, { "to", "To", NULL, CELL_NUMBER }, { "count", "Occurrences", NULL, CELL_COUNT },
	{ "ipc", "Linear", NULL, CELL_REAL }, { "low", "95 % from", NULL, CELL_REAL }, { "high", "95 % to", NULL, CELL_REAL },
	{ "conservative", "Conservative", NULL, CELL_REAL }, { "optimistic", "Optimistic", NULL, CELL_REAL },
};

static const struct table_column around_columns_ns[AROUND_COLUMNS] = {
	{ "from", "From", "ns", CELL_NUMBER }, { "to", "To", "ns", CELL_NUMBER }, { "count", "Occurrences", NULL, CELL_COUNT },
	{ "ipc", "Linear", NULL, CELL_REAL }, { "low", "95 % from", NULL, CELL_REAL }, { "high", "95 % to", NULL, CELL_REAL },
	{ "conservative", "Conservative", NULL, CELL_REAL }, { "optimistic", "Optimistic", NULL, CELL_REAL },
};

static size_t around_row_count(void *context, uint64_t parent)
{
	const struct ipc_result *result = context;
	return parent == TABLE_TOP ? result->around.rows.count : 0;
}

static struct cell around_cell(void *context, uint64_t row, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct ipc_result *result = context;
	const struct ipc_around_row *bin = &result->around.rows.items[row - 1];
	if (column > AROUND_COUNT && !bin->count)
		return cell_absent();
	switch (column) {
	case AROUND_FROM:
		return cell_number(bin->from);
	case AROUND_TO:
		return cell_number(bin->to);
	case AROUND_COUNT:
		return cell_count(bin->count);
	case AROUND_IPC:
		return cell_real(bin->mean);
	case AROUND_LOW:
		return cell_real(bin->low);
	case AROUND_HIGH:
		return cell_real(bin->high);
	case AROUND_LEAST:
		return cell_real(bin->least);
	default:
		return cell_real(bin->most);
	}
}

struct table ipc_around_table(const struct ipc_result *result)
{
	return (struct table){ .name = "around", .columns = result->around_ns ? around_columns_ns : around_columns,
		.column_count = AROUND_COLUMNS, .context = (void *)result, .row_count = around_row_count, .row = table_row_in_order,
		.cell = around_cell };
}

enum { STEADY_CPU, STEADY_TID, STEADY_COMM, STEADY_TIME, STEADY_FROM_NS, STEADY_TO_NS, STEADY_LENGTH, STEADY_ITERATIONS, STEADY_EVENT,
	STEADY_NAME, STEADY_OCCURRENCES, STEADY_IPC, STEADY_WHOLE, STEADY_LOSSES, STEADY_COLUMNS };

static const struct table_column steady_columns[STEADY_COLUMNS] = {
	{ "cpu", "CPU", NULL, CELL_NUMBER }, { "tid", "TID", NULL, CELL_NUMBER }, { "comm", "Command", NULL, CELL_TEXT },
	{ "time", "--time", NULL, CELL_TEXT }, { "from_ns", "From", "ns", CELL_TIME }, { "to_ns", "To", "ns", CELL_TIME },
	{ "length", "Length", "ns", CELL_TIME }, { "iterations", "Iterations", NULL, CELL_COUNT }, { "event", "Of", NULL, CELL_TEXT },
	{ "name", "Name", NULL, CELL_TEXT }, { "occurrences", "Occurrences", NULL, CELL_COUNT }, { "ipc", "IPC", NULL, CELL_REAL },
	{ "whole_ipc", "IPC of all", NULL, CELL_REAL }, { "losses", "Losses", NULL, CELL_COUNT },
};

static size_t steady_row_count(void *context, uint64_t parent)
{
	const struct ipc_result *result = context;
	return parent == TABLE_TOP ? result->steady.count : 0;
}

static struct cell steady_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct ipc_result *result = context;
	const struct ipc_track *track = &result->tracks->list.items[row - 1];
	const struct ipc_steady *steady = &result->steady.items[row - 1];
	if (!steady->found && column > STEADY_COMM && column < STEADY_WHOLE)
		return cell_absent();
	switch (column) {
	case STEADY_CPU:
		return cell_id(track->cpu);
	case STEADY_TID:
		return cell_id(track->tid);
	case STEADY_COMM:
		return track_name(result, track);
	case STEADY_TIME:
		str_clear(scratch);
		str_printf(scratch, "%llu.%09llu,%llu.%09llu", (unsigned long long)steady->from_ns / 1000000000,
			(unsigned long long)steady->from_ns % 1000000000, (unsigned long long)steady->to_ns / 1000000000,
			(unsigned long long)steady->to_ns % 1000000000);
		return cell_text(str_text(scratch));
	case STEADY_FROM_NS:
		return time_in_data(result, steady->from_ns);
	case STEADY_TO_NS:
		return time_in_data(result, steady->to_ns);
	case STEADY_LENGTH:
		return cell_time(steady->to_ns - steady->from_ns);
	case STEADY_ITERATIONS:
		return cell_count(steady->iterations);
	case STEADY_EVENT:
		return cell_text(ipc_event_word(steady->kind));
	case STEADY_NAME:
		return cell_text(strtab_text(&result->tracks->names, steady->name));
	case STEADY_OCCURRENCES:
		return cell_count(steady->occurrences);
	case STEADY_IPC:
		return cell_real(steady->rate);
	case STEADY_WHOLE:
		return cell_real(steady->whole_rate);
	default:
		return cell_count(steady->losses);
	}
}

struct table ipc_steady_table(const struct ipc_result *result)
{
	return (struct table){ .name = "steady", .columns = steady_columns, .column_count = STEADY_COLUMNS, .context = (void *)result,
		.row_count = steady_row_count, .row = table_row_in_order, .cell = steady_cell };
}
