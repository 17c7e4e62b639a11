#include "analysis/cycle/flow_cycle.h"

#include "analysis/cycle/cycle_tables.h"
#include "unit.h"

/* One pass: main calls a, which loops twice and returns, then calls b, which returns; main jumps back. */
enum { CALL_A, LOOP, RETURN_A, CALL_B, RETURN_B, BACK, STRAY, EDGES };

static const struct {
	uint64_t from, to;
	const char *in;
	uint32_t at;             /* offset of `to` in its function */
	uint8_t kind;
	unsigned cycles, instructions;
} planned[EDGES] = {
	[CALL_A] = { 0x110, 0x200, "main", 0, FLOW_CALL, 10, 20 }, [LOOP] = { 0x210, 0x208, "a", 8, FLOW_JUMP, 2, 3 },
	[RETURN_A] = { 0x220, 0x115, "a", 5, FLOW_RETURN, 8, 16 }, [CALL_B] = { 0x120, 0x300, "main", 0, FLOW_CALL, 4, 2 },
	[RETURN_B] = { 0x310, 0x125, "b", 5, FLOW_RETURN, 20, 5 }, [BACK] = { 0x130, 0x100, "main", 16, FLOW_JUMP, 6, 6 },
	[STRAY] = { 0x130, 0x500, "main", 0, FLOW_CALL, 1, 1 },
};

static uint32_t add(struct flow_graph *graph, unsigned which, uint32_t before)
{
	bool added;
	uint32_t edge = flow_graph_edge(graph, planned[which].from, planned[which].to, &added);
	struct flow_edge *to = &graph->edges.items[edge];
	to->from.function = strtab_add(&graph->names, planned[which].in, strlen(planned[which].in));
	to->kind = planned[which].kind;
	flow_graph_add(graph, edge, before);
	flow_graph_add_cycles(graph, edge, planned[which].cycles);
	flow_graph_add_instructions(graph, edge, planned[which].instructions);
	return edge;
}

static void fill(struct flow_graph *graph)
{
	static const uint8_t pass[] = { CALL_A, LOOP, LOOP, RETURN_A, CALL_B, RETURN_B, BACK };
	uint32_t before = FLOW_NONE;
	flow_graph_init(graph);
	for (int i = 0; i < 10; i++)
		for (size_t n = 0; n < sizeof pass; n++)
			before = add(graph, pass[n], before);
	add(graph, STRAY, before);
}

TEST("an edge is counted with its cycles and instructions")
{
	struct flow_graph graph;
	bool added;
	fill(&graph);
	uint32_t loop = flow_graph_edge(&graph, 0x210, 0x208, &added);
	EXPECT(!added);
	EXPECT_INT(graph.edges.items[loop].count, 20);
	EXPECT(graph.edges.items[loop].cycles == 40);
	EXPECT_INT(graph.edges.items[loop].instructions, 60);
	EXPECT_INT(graph.branches, 71);
	EXPECT_INT(graph.edges.count, EDGES);
	flow_graph_fini(&graph);
}

TEST("the widest cycle is found where a wider path to a branch is found later")
{
	static const struct { uint8_t before, edge, count; } follows[] = {
		{ 0, 1, 7 }, { 0, 4, 1 }, { 2, 3, 6 }, { 4, 2, 6 }, { 1, 0, 4 }, { 3, 0, 7 }, { 0, 2, 2 }, { 1, 4, 5 },
	};
	struct flow_graph graph;
	struct flow_cycles cycles = { 0 };
	bool added;
	flow_graph_init(&graph);
	for (unsigned i = 0; i < 5; i++) {
		uint32_t edge = flow_graph_edge(&graph, 0x100 + i, 0x200 + i, &added);
		graph.edges.items[edge].kind = i ? FLOW_JUMP : FLOW_CALL;
	}
	for (size_t i = 0; i < sizeof follows / sizeof *follows; i++)
		for (unsigned n = 0; n < follows[i].count; n++)
			flow_graph_add(&graph, follows[i].edge, follows[i].before);
	flow_cycles_find(&cycles, &graph, 1);
	EXPECT_INT(cycles.list.count, 1);
	EXPECT_INT(cycles.list.items[0].width, 5); /* by 0, 1, 4, 2, 3; 0, 1 has 4 */
	EXPECT_INT(cycles.list.items[0].count, 5);
	flow_cycles_fini(&cycles);
	flow_graph_fini(&graph);
}

TEST("the dominant cycle has the calls of one pass, in order, without inner loops")
{
	struct flow_graph graph;
	struct flow_cycles cycles = { 0 };
	fill(&graph);
	flow_cycles_find(&cycles, &graph, 2);
	EXPECT_INT(cycles.list.count, 1);
	const struct flow_cycle *cycle = &cycles.list.items[0];
	EXPECT_INT(cycle->calls, 2);
	EXPECT_INT(cycle->count, 6); /* the loop is passed once */
	EXPECT_INT(cycle->width, 9);
	EXPECT_INT(cycle->weight, 10 * 52 + 1);
	EXPECT_INT(graph.edges.items[cycle->edges[0]].from.address, 0x110);
	EXPECT_INT(graph.edges.items[cycle->edges[3]].from.address, 0x120);
	flow_cycles_fini(&cycles);
	flow_graph_fini(&graph);
}

TEST("branches below the least count are on no cycle")
{
	struct flow_graph graph;
	struct flow_cycles cycles = { 0 };
	fill(&graph);
	flow_cycles_find(&cycles, &graph, 11);
	EXPECT_INT(cycles.list.count, 0);
	flow_cycles_fini(&cycles);
	flow_graph_fini(&graph);
}

TEST("a graph without branches has no cycle")
{
	struct flow_graph graph;
	struct flow_cycles cycles = { 0 };
	flow_graph_init(&graph);
	flow_cycles_find(&cycles, &graph, 1);
	EXPECT_INT(cycles.list.count, 0);
	flow_cycles_fini(&cycles);
	flow_graph_fini(&graph);
}

TEST("windows of a cycle have equal cycles and all its instructions")
{
	struct flow_graph graph;
	struct cycle_result result;
	fill(&graph);
	cycle_result_make(&result, &graph, 2, 0, 5, false);
	EXPECT(result.pass == 50);
	double sum = 0;
	for (size_t i = 0; i < 5; i++) {
		EXPECT(result.windows[i].to_cycle - result.windows[i].from_cycle == 10);
		sum += result.windows[i].instructions;
	}
	EXPECT(sum > 51.999 && sum < 52.001);
	EXPECT(result.windows[0].instructions == 20);
	EXPECT_INT(result.steps.count, 3); /* two calls, and the way back */
	EXPECT(result.steps.items[1].at == 24 && result.steps.items[1].cycles == 14);
	cycle_result_fini(&result);
	flow_graph_fini(&graph);
}
