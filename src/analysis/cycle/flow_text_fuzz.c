/* Reads any bytes as lines of branch stacks: counts of branches and of what followed them agree, and each cycle that is found has a
 * call. */
#include <stdlib.h>
#include <string.h>

#include "analysis/cycle/flow_cycle.h"
#include "analysis/cycle/flow_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flow_graph graph;
	struct flow_cycles cycles = { 0 };
	uint64_t bad = 0, entries = 0, count = 0, stacks = 0, follows = 0;
	flow_graph_init(&graph);
	for (size_t at = 0, len; at < size; at += len + 1) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		len = end ? (size_t)(end - data) - at : size - at;
		size_t found = flow_text_line(&graph, (const char *)data + at, len, &bad);
		entries += found;
		stacks += found > 0;
	}
	for (size_t i = 0; i < graph.edges.count; i++)
		count += graph.edges.items[i].count;
	for (size_t i = 0; i < graph.follows.count; i++)
		follows += graph.follows.items[i].count;
	bool named = !memmem(data, size, "[unknown]", 9); /* no path leads through places without a name */
	if (count != entries || graph.branches != entries || graph.stacks != stacks || follows > entries - stacks)
		abort();
	if (named && follows != entries - stacks)
		abort();
	flow_cycles_find(&cycles, &graph, 1);
	for (size_t i = 0; i < cycles.list.count; i++)
		if (!cycles.list.items[i].calls)
			abort();
	flow_cycles_fini(&cycles);
	flow_graph_fini(&graph);
	return 0;
}
