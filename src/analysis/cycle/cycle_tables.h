/* The results of `cycle` as tables. */
#pragma once
#include "analysis/cycle/flow_cycle.h"
#include "analysis/table/table.h"

struct cycle_step {
	size_t index;                 /* of the edge on the cycle */
	double at, cycles, instructions; /* from the start of the pass; since the step before */
};

struct cycle_result {
	const struct flow_graph *graph;
	struct flow_cycles cycles;
	size_t shown;                 /* which of them */
	VEC(struct cycle_step) steps; /* of that cycle: all branches, or calls and boundaries of system calls */
	VEC(uint32_t) edges;          /* above the filter, most frequent first */
	struct flow_window windows[FLOW_WINDOWS_MAX];
	size_t window_count;
	double pass;                  /* cycles of one pass; 0: unknown */
};

/* Fills the result of a graph. all: steps are all branches. */
void cycle_result_make(struct cycle_result *result, const struct flow_graph *graph, uint64_t least, size_t shown, size_t windows, bool all);
void cycle_result_fini(struct cycle_result *result);
/* The chosen cycle; NULL: no cycle was found. */
const struct flow_cycle *cycle_result_cycle(const struct cycle_result *result);

struct table cycle_steps_table(const struct cycle_result *result);
struct table cycle_edges_table(const struct cycle_result *result);
struct table cycle_list_table(const struct cycle_result *result);
struct table cycle_windows_table(const struct cycle_result *result);
struct table cycle_cover_table(const struct cycle_result *result);
