/* --graph-function: of a hardware trace, the calls and returns from the entry of a function to its return. */
#include <string.h>

#include "script/internal.h"
#include "session/trace.h"

static bool is_named(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (size_t size; *names; names += size + (names[size] == ',')) {
		size = strcspn(names, ",");
		if (size == len && !memcmp(names, name, len))
			return true;
	}
	return false;
}

bool listing_graph_drops(const struct listing_line *line)
{
	struct listing *listing = line->listing;
	const struct trace_note *note = trace_note_of(line->r);
	uint64_t address;
	bool added;

	uint32_t index = idmap_add(&listing->graph_of_thread, (uint32_t)line->r->tid, (uint32_t)listing->graphs.count, &added);
	if (added)
		vec_push(&listing->graphs, ((struct listing_graph){ 0 }));
	struct listing_graph *graph = &listing->graphs.items[index];
	if (note && line->plan->branch_trace)
		graph->now = note->depth;
	if (graph->on) {
		graph->on = graph->now > graph->depth;
		return !graph->on;
	}
	const char *name = note ? listing_call_name(line, note, &address) : NULL;
	if (!name || !is_named(listing->options.graph_functions, name))
		return true;
	graph->on = true;
	graph->depth = graph->now;
	return false;
}
