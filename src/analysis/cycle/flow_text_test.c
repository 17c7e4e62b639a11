#include "analysis/cycle/flow_text.h"

#include "unit.h"

static size_t read_line(struct flow_graph *graph, const char *line, uint64_t *bad)
{
	return flow_text_line(graph, line, strlen(line), bad);
}

TEST("a line of brstack is a stack, newest branch first")
{
	struct flow_graph graph;
	uint64_t bad = 0;
	bool added;
	flow_graph_init(&graph);
	EXPECT_INT(read_line(&graph, "  prog 12 1.5:  0x40 0x30/0x40/P/-/-/7//-  0x20/0x10/M/-/-/0  0x1/0x20/P/-/-/3\n", &bad), 3);
	EXPECT_INT(bad, 0);
	EXPECT_INT(graph.branches, 3);
	EXPECT(graph.cycles == 10);
	EXPECT_INT(graph.follows.count, 2);
	uint32_t first = flow_graph_edge(&graph, 0x1, 0x20, &added), second = flow_graph_edge(&graph, 0x20, 0x10, &added);
	EXPECT_INT(graph.follows.items[0].edge, first);
	EXPECT_INT(graph.follows.items[0].next, second);
	EXPECT_INT(graph.stacks, 1);
	EXPECT_INT(graph.cover[3], 1); /* at most 10 */
	flow_graph_fini(&graph);
}

TEST("symbols of brstacksym are functions, and their starts are called")
{
	struct flow_graph graph;
	uint64_t bad = 0;
	flow_graph_init(&graph);
	EXPECT_INT(read_line(&graph, "main+0x1c/work+0x0/P/-/-/7 0xffff800000000010/main/P/-/-/1 main+0x3/0xffff800000000000/P/-/-/1", &bad), 3);
	EXPECT_INT(graph.edges.items[0].kind, FLOW_SYSCALL);
	EXPECT_INT(graph.edges.items[1].kind, FLOW_RESUME);
	EXPECT_INT(graph.edges.items[2].kind, FLOW_CALL);
	EXPECT_STR(strtab_text(&graph.names, graph.edges.items[2].to.function), "work");
	EXPECT_INT(graph.edges.items[2].from.offset, 0x1c);
	flow_graph_fini(&graph);
}

TEST("branches of places without names are counted, but are no calls, and no path leads through them")
{
	struct flow_graph graph;
	uint64_t bad = 0;
	flow_graph_init(&graph);
	EXPECT_INT(read_line(&graph, "a+0x9/b+0x2/P/-/-/7 b+0x1/a+0x2/P/-/-/1 [unknown]/b/P/-/-/1 a+0x3/[unknown]/P/-/-/1 b+0x8/a/P/-/-/1",
		&bad), 5);
	EXPECT_INT(bad, 0);
	EXPECT_INT(graph.branches, 5);
	EXPECT(graph.cycles == 11);
	EXPECT_INT(graph.edges.items[0].kind, FLOW_CALL);
	EXPECT_INT(graph.edges.items[1].kind, FLOW_JUMP);
	EXPECT_INT(graph.edges.items[2].kind, FLOW_JUMP);
	EXPECT_INT(graph.follows.count, 1);
	EXPECT_INT(graph.follows.items[0].edge, 3);
	EXPECT_INT(graph.follows.items[0].next, 4);
	flow_graph_fini(&graph);
}

TEST("a word that is no branch ends its stack and is counted")
{
	struct flow_graph graph;
	uint64_t bad = 0;
	flow_graph_init(&graph);
	EXPECT_INT(read_line(&graph, "0x1/0x2/P/-/-/1 0x3/zz+0xg/P/-/-/1 0x5/0x6/P/-/-/1", &bad), 1);
	EXPECT_INT(read_line(&graph, "a/b/c", &bad), 0);
	EXPECT_INT(read_line(&graph, "////////", &bad), 0);
	EXPECT_INT(read_line(&graph, "no branches here", &bad), 0);
	EXPECT_INT(bad, 3);
	EXPECT_INT(graph.branches, 1);
	flow_graph_fini(&graph);
}
