#include "analysis/cycle/cycle_tables.h"

#include <stdlib.h>

#include "base/whole.h"

const struct flow_cycle *cycle_result_cycle(const struct cycle_result *result)
{
	return result->shown < result->cycles.list.count ? &result->cycles.list.items[result->shown] : NULL;
}

static bool is_boundary(const struct flow_edge *edge)
{
	return edge->kind == FLOW_CALL || edge->kind == FLOW_SYSCALL || edge->kind == FLOW_RESUME || edge->syscalls;
}

static void make_steps(struct cycle_result *result, bool all)
{
	const struct flow_cycle *cycle = cycle_result_cycle(result);
	double at = 0, cycles = 0, instructions = 0;
	for (size_t i = 0; cycle && i < cycle->count; i++) {
		const struct flow_edge *edge = &result->graph->edges.items[cycle->edges[i]];
		cycles += edge->timed ? edge->cycles / (double)edge->timed : 0;
		instructions += edge->counted ? (double)edge->instructions / (double)edge->counted : 0;
		if (!all && !is_boundary(edge) && i + 1 < cycle->count)
			continue;
		at += cycles;
		vec_push(&result->steps, ((struct cycle_step){ i, at, cycles, instructions }));
		cycles = instructions = 0;
	}
}

struct ranked {
	uint32_t edge;
	uint64_t count;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return left->edge < right->edge ? -1 : left->edge > right->edge;
}

static void rank_edges(struct cycle_result *result, uint64_t least)
{
	const struct flow_graph *graph = result->graph;
	VEC(struct ranked) ranked = { 0 };
	for (uint32_t i = 0; i < graph->edges.count; i++)
		if (graph->edges.items[i].count >= least)
			vec_push(&ranked, ((struct ranked){ i, graph->edges.items[i].count }));
	if (ranked.count)
		qsort(ranked.items, ranked.count, sizeof *ranked.items, compare_ranked);
	for (size_t i = 0; i < ranked.count; i++)
		vec_push(&result->edges, ranked.items[i].edge);
	vec_fini(&ranked);
}

void cycle_result_make(struct cycle_result *result, const struct flow_graph *graph, uint64_t least, size_t shown, size_t windows, bool all)
{
	*result = (struct cycle_result){ .graph = graph, .shown = shown };
	flow_cycles_find(&result->cycles, graph, least);
	const struct flow_cycle *cycle = cycle_result_cycle(result);
	rank_edges(result, least);
	make_steps(result, all);
	result->window_count = windows < FLOW_WINDOWS_MAX ? windows : FLOW_WINDOWS_MAX;
	if (cycle)
		result->pass = flow_cycle_windows(graph, cycle, result->windows, result->window_count);
	if (!(result->pass > 0))
		result->window_count = 0;
}

void cycle_result_fini(struct cycle_result *result)
{
	flow_cycles_fini(&result->cycles);
	vec_fini(&result->steps);
	vec_fini(&result->edges);
}

static struct cell cell_real(double real)
{
	return (struct cell){ .kind = CELL_REAL, .real = real };
}

static struct cell cell_ratio(double part, double whole)
{
	return whole > 0 && part > 0 ? cell_real(part / whole) : cell_absent();
}

static struct cell cell_share(uint64_t part, uint64_t whole)
{
	return (struct cell){ .kind = CELL_SHARE, .share = { part, whole } };
}

static struct cell place(const struct cycle_result *result, const struct flow_place *at, struct str *scratch)
{
	str_clear(scratch);
	flow_place_text(result->graph, at, scratch);
	return cell_text(str_text(scratch));
}

enum { STEP_AT, STEP_KIND, STEP_FROM, STEP_TO, STEP_COUNT, STEP_PASSES, STEP_SYSCALLS, STEP_CYCLES, STEP_INSTRUCTIONS, STEP_IPC,
	STEP_COLUMNS };

static const struct table_column step_columns[STEP_COLUMNS] = {
	{ "at_cycle", "At (cycle)", NULL, CELL_REAL }, { "kind", "Kind", NULL, CELL_TEXT }, { "from", "From", NULL, CELL_TEXT },
	{ "to", "To", NULL, CELL_TEXT }, { "count", "Count", NULL, CELL_COUNT }, { "passes", "Per pass", NULL, CELL_REAL },
	{ "syscalls", "System calls before", NULL, CELL_COUNT }, { "cycles", "Cycles", NULL, CELL_REAL },
	{ "instructions", "Instructions", NULL, CELL_REAL }, { "ipc", "IPC", NULL, CELL_REAL },
};

static size_t step_count(void *context, uint64_t parent)
{
	const struct cycle_result *result = context;
	return parent == TABLE_TOP ? result->steps.count : 0;
}

static struct cell step_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct cycle_result *result = context;
	const struct flow_cycle *cycle = cycle_result_cycle(result);
	const struct cycle_step *step = &result->steps.items[row - 1];
	const struct flow_edge *edge = &result->graph->edges.items[cycle->edges[step->index]];
	switch (column) {
	case STEP_AT:
		return result->pass > 0 ? cell_real(step->at) : cell_absent();
	case STEP_KIND:
		return cell_text(flow_kind_word(edge->kind));
	case STEP_FROM:
		return place(result, &edge->from, scratch);
	case STEP_TO:
		return place(result, &edge->to, scratch);
	case STEP_COUNT:
		return cell_count(edge->count);
	case STEP_PASSES:
		return cell_ratio((double)edge->count, (double)cycle->width);
	case STEP_SYSCALLS:
		return edge->syscalls ? cell_count(edge->syscalls) : cell_absent();
	case STEP_CYCLES:
		return result->pass > 0 ? cell_real(step->cycles) : cell_absent();
	case STEP_INSTRUCTIONS:
		return step->instructions > 0 ? cell_real(step->instructions) : cell_absent();
	default:
		return cell_ratio(step->instructions, step->cycles);
	}
}

struct table cycle_steps_table(const struct cycle_result *result)
{
	return (struct table){ .name = "steps", .columns = step_columns, .column_count = STEP_COLUMNS, .context = (void *)result,
		.row_count = step_count, .row = table_row_in_order, .cell = step_cell };
}

enum { EDGE_FROM, EDGE_TO, EDGE_FROM_ADDRESS, EDGE_TO_ADDRESS, EDGE_KIND, EDGE_COUNT, EDGE_SHARE, EDGE_CYCLES, EDGE_TIMED,
	EDGE_INSTRUCTIONS, EDGE_COUNTED, EDGE_ON, EDGE_COLUMNS };

static const struct table_column edge_columns[EDGE_COLUMNS] = {
	{ "from", "From", NULL, CELL_TEXT }, { "to", "To", NULL, CELL_TEXT }, { "from_address", "From address", NULL, CELL_ADDRESS },
	{ "to_address", "To address", NULL, CELL_ADDRESS }, { "kind", "Kind", NULL, CELL_TEXT }, { "count", "Count", NULL, CELL_COUNT },
	{ "share", "Share", NULL, CELL_SHARE }, { "cycles", "Cycles", NULL, CELL_COUNT }, { "timed", "Timed", NULL, CELL_COUNT },
	{ "instructions", "Instructions", NULL, CELL_COUNT }, { "counted", "Counted", NULL, CELL_COUNT },
	{ "cycle", "On cycle", NULL, CELL_COUNT },
};

static size_t edge_count(void *context, uint64_t parent)
{
	const struct cycle_result *result = context;
	return parent == TABLE_TOP ? result->edges.count : 0;
}

/* The number of the first cycle that has the edge; 0: none. */
static uint64_t cycle_of(const struct cycle_result *result, uint32_t edge)
{
	for (size_t n = 0; n < result->cycles.list.count; n++)
		for (size_t i = 0; i < result->cycles.list.items[n].count; i++)
			if (result->cycles.list.items[n].edges[i] == edge)
				return n + 1;
	return 0;
}

static struct cell edge_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct cycle_result *result = context;
	uint32_t index = result->edges.items[row - 1];
	const struct flow_edge *edge = &result->graph->edges.items[index];
	uint64_t on = column == EDGE_ON ? cycle_of(result, index) : 0;
	switch (column) {
	case EDGE_FROM:
		return place(result, &edge->from, scratch);
	case EDGE_TO:
		return place(result, &edge->to, scratch);
	case EDGE_FROM_ADDRESS:
		return cell_address(edge->from.address);
	case EDGE_TO_ADDRESS:
		return cell_address(edge->to.address);
	case EDGE_KIND:
		return cell_text(flow_kind_word(edge->kind));
	case EDGE_COUNT:
		return cell_count(edge->count);
	case EDGE_SHARE:
		return cell_share(edge->count, result->graph->branches);
	case EDGE_CYCLES:
		return edge->timed ? cell_count(whole_near(edge->cycles)) : cell_absent();
	case EDGE_TIMED:
		return edge->timed ? cell_count(edge->timed) : cell_absent();
	case EDGE_INSTRUCTIONS:
		return edge->counted ? cell_count(edge->instructions) : cell_absent();
	case EDGE_COUNTED:
		return edge->counted ? cell_count(edge->counted) : cell_absent();
	default:
		return on ? cell_count(on) : cell_absent();
	}
}

struct table cycle_edges_table(const struct cycle_result *result)
{
	return (struct table){ .name = "edges", .columns = edge_columns, .column_count = EDGE_COLUMNS, .context = (void *)result,
		.row_count = edge_count, .row = table_row_in_order, .cell = edge_cell };
}

enum { LIST_NUMBER, LIST_SHARE, LIST_WIDTH, LIST_BRANCHES, LIST_CALLS, LIST_PATH, LIST_COLUMNS };

static const struct table_column list_columns[LIST_COLUMNS] = {
	{ "cycle", "Cycle", NULL, CELL_COUNT }, { "share", "Share", NULL, CELL_SHARE }, { "width", "Rarest step", NULL, CELL_COUNT },
	{ "branches", "Branches", NULL, CELL_COUNT }, { "calls", "Calls", NULL, CELL_COUNT }, { "path", "Functions", NULL, CELL_TEXT },
};

static size_t list_count(void *context, uint64_t parent)
{
	const struct cycle_result *result = context;
	return parent == TABLE_TOP ? result->cycles.list.count : 0;
}

static void add_path(const struct cycle_result *result, const struct flow_cycle *cycle, struct str *path)
{
	for (size_t i = 0; i < cycle->count; i++) {
		const struct flow_edge *edge = &result->graph->edges.items[cycle->edges[i]];
		bool syscall = edge->kind == FLOW_SYSCALL || edge->syscalls;
		if (edge->kind != FLOW_CALL && !syscall)
			continue;
		str_puts(path, path->len ? " > " : "");
		if (syscall) {
			str_puts(path, "[syscall ");
			flow_place_text(result->graph, &(struct flow_place){ edge->from.address, edge->from.function, 0 }, path);
			str_putc(path, ']');
		}
		if (edge->kind == FLOW_CALL) {
			str_puts(path, syscall ? " > " : "");
			flow_place_text(result->graph, &edge->to, path);
		}
	}
}

static struct cell list_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct cycle_result *result = context;
	const struct flow_cycle *cycle = &result->cycles.list.items[row - 1];
	switch (column) {
	case LIST_NUMBER:
		return cell_count(row);
	case LIST_SHARE:
		return cell_share(cycle->weight, result->graph->cycles > 0 ? whole_near(result->graph->cycles) : result->graph->branches);
	case LIST_WIDTH:
		return cell_count(cycle->width);
	case LIST_BRANCHES:
		return cell_count(cycle->count);
	case LIST_CALLS:
		return cell_count(cycle->calls);
	default:
		str_clear(scratch);
		add_path(result, cycle, scratch);
		return cell_text(str_text(scratch));
	}
}

struct table cycle_list_table(const struct cycle_result *result)
{
	return (struct table){ .name = "cycles", .columns = list_columns, .column_count = LIST_COLUMNS, .context = (void *)result,
		.row_count = list_count, .row = table_row_in_order, .cell = list_cell };
}

enum { WINDOW_FROM, WINDOW_TO, WINDOW_INSTRUCTIONS, WINDOW_IPC, WINDOW_STEPS, WINDOW_COLUMNS };

static const struct table_column window_columns[WINDOW_COLUMNS] = {
	{ "from_cycle", "From (cycle)", NULL, CELL_REAL }, { "to_cycle", "To (cycle)", NULL, CELL_REAL },
	{ "instructions", "Instructions", NULL, CELL_REAL }, { "ipc", "IPC", NULL, CELL_REAL }, { "enters", "Enters", NULL, CELL_TEXT },
};

static size_t window_count(void *context, uint64_t parent)
{
	const struct cycle_result *result = context;
	return parent == TABLE_TOP ? result->window_count : 0;
}

static struct cell window_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct cycle_result *result = context;
	const struct flow_window *window = &result->windows[row - 1];
	const struct flow_cycle *cycle = cycle_result_cycle(result);
	switch (column) {
	case WINDOW_FROM:
		return cell_real(window->from_cycle);
	case WINDOW_TO:
		return cell_real(window->to_cycle);
	case WINDOW_INSTRUCTIONS:
		return window->instructions > 0 ? cell_real(window->instructions) : cell_absent();
	case WINDOW_IPC:
		return cell_ratio(window->instructions, window->to_cycle - window->from_cycle);
	default:
		str_clear(scratch);
		if (window->end > window->first)
			add_path(result, &(struct flow_cycle){ .edges = cycle->edges + window->first, .count = window->end - window->first }, scratch);
		return cell_text(scratch->len ? str_text(scratch) : NULL);
	}
}

struct table cycle_windows_table(const struct cycle_result *result)
{
	return (struct table){ .name = "windows", .columns = window_columns, .column_count = WINDOW_COLUMNS, .context = (void *)result,
		.row_count = window_count, .row = table_row_in_order, .cell = window_cell };
}

enum { COVER_CYCLES, COVER_STACKS, COVER_SHARE, COVER_UP_TO, COVER_COLUMNS };

static const struct table_column cover_columns[COVER_COLUMNS] = {
	{ "cycles", "Up to (cycles)", NULL, CELL_COUNT }, { "stacks", "Branch stacks", NULL, CELL_COUNT }, { "share", "Share", NULL, CELL_SHARE },
	{ "share_up_to", "Up to here", NULL, CELL_SHARE },
};

static size_t cover_count(void *context, uint64_t parent)
{
	const struct cycle_result *result = context;
	size_t count = FLOW_COVER_ROWS;
	while (count && !result->graph->cover[count - 1])
		count--;
	return parent == TABLE_TOP ? count : 0;
}

static struct cell cover_cell(void *context, uint64_t row, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct cycle_result *result = context;
	uint64_t up_to = 0;
	for (size_t i = 0; i < row; i++)
		up_to += result->graph->cover[i];
	switch (column) {
	case COVER_CYCLES:
		return cell_count(flow_cover_limit(row - 1));
	case COVER_STACKS:
		return cell_count(result->graph->cover[row - 1]);
	case COVER_SHARE:
		return cell_share(result->graph->cover[row - 1], result->graph->stacks);
	default:
		return cell_share(up_to, result->graph->stacks);
	}
}

struct table cycle_cover_table(const struct cycle_result *result)
{
	return (struct table){ .name = "cover", .columns = cover_columns, .column_count = COVER_COLUMNS, .context = (void *)result,
		.row_count = cover_count, .row = table_row_in_order, .cell = cover_cell };
}
