#include "analysis/cycle/flow_graph.h"

#include <inttypes.h>

void flow_graph_init(struct flow_graph *graph)
{
	*graph = (struct flow_graph){ 0 };
	strtab_add(&graph->names, "", 0);
}

void flow_graph_fini(struct flow_graph *graph)
{
	vec_fini(&graph->edges);
	vec_fini(&graph->follows);
	idmap_fini(&graph->edge_of);
	idmap_fini(&graph->follow_of);
	strtab_fini(&graph->names);
}

uint32_t flow_graph_edge(struct flow_graph *graph, uint64_t from, uint64_t to, bool *added)
{
	uint64_t key = hash_pair(from, to);
	for (;; key++) { /* two pairs may have one hash */
		uint32_t index = idmap_add(&graph->edge_of, key, (uint32_t)graph->edges.count, added);
		if (*added)
			vec_push(&graph->edges, ((struct flow_edge){ .from.address = from, .to.address = to }));
		const struct flow_edge *edge = &graph->edges.items[index];
		if (edge->from.address == from && edge->to.address == to)
			return index;
	}
}

void flow_graph_add(struct flow_graph *graph, uint32_t edge, uint32_t before)
{
	bool added;
	graph->edges.items[edge].count++;
	graph->branches++;
	if (before == FLOW_NONE)
		return;
	uint32_t index = idmap_add(&graph->follow_of, (uint64_t)before << 32 | edge, (uint32_t)graph->follows.count, &added);
	if (added)
		vec_push(&graph->follows, ((struct flow_follow){ before, edge, 0 }));
	graph->follows.items[index].count++;
}

void flow_graph_add_cycles(struct flow_graph *graph, uint32_t edge, double cycles)
{
	graph->edges.items[edge].cycles += cycles;
	graph->edges.items[edge].timed++;
	graph->cycles += cycles;
}

void flow_graph_add_instructions(struct flow_graph *graph, uint32_t edge, uint64_t instructions)
{
	graph->edges.items[edge].instructions += instructions;
	graph->edges.items[edge].counted++;
	graph->instructions += instructions;
}

uint64_t flow_cover_limit(size_t row)
{
	static const unsigned steps[] = { 1, 2, 5 };
	uint64_t unit = 1;
	for (size_t i = 0; i < row / 3; i++)
		unit *= 10;
	return steps[row % 3] * unit;
}

void flow_graph_add_stack(struct flow_graph *graph, uint64_t branches, uint64_t cycles)
{
	size_t row = 0;
	while (row < FLOW_COVER_ROWS - 1 && flow_cover_limit(row) < cycles)
		row++;
	graph->cover[row]++;
	graph->stacks++;
	graph->stack_branches += branches;
	graph->stack_cycles += cycles;
}

const char *flow_kind_word(enum flow_kind kind)
{
	static const char *const words[FLOW_KINDS] = { "jump", "call", "return", "syscall", "resume" };
	return words[kind];
}

void flow_place_text(const struct flow_graph *graph, const struct flow_place *place, struct str *to)
{
	if (!place->function)
		str_printf(to, "0x%" PRIx64, place->address);
	else if (place->offset)
		str_printf(to, "%s+0x%x", strtab_text(&graph->names, place->function), place->offset);
	else
		str_puts(to, strtab_text(&graph->names, place->function));
}
