#include "event/metric_order.h"

#include <stdlib.h>
#include <string.h>

#include "event/event_names.h"

int metric_tool(const char *name)
{
	const struct event_symbol *symbol = event_symbol_find(name, strlen(name));
	return symbol && symbol->type == EVENT_TYPE_TOOL && symbol->config < METRIC_TOOLS ? (int)symbol->config : 0;
}

const char *metric_tool_name(int tool)
{
	const struct event_symbol *symbol = event_symbol_of(EVENT_TYPE_TOOL, (uint64_t)tool);
	return symbol ? symbol->name : "";
}

/* perf hashes the name with "@" for slashes. */
static uint64_t place_of(const char *name, unsigned bits)
{
	uint64_t hash = 0;
	for (; *name; name++)
		hash = hash * 31 + (uint64_t)(*name == '/' ? '@' : *name);
	return hash * 11400714819323198485u >> (64 - bits);
}

void metric_order_names(struct planned_name *names, size_t count)
{
	size_t capacity = 4;
	unsigned bits = 2;
	for (; count * 4 / 3 > capacity; bits++)
		capacity *= 2;
	/* equal places: the later name first */
	for (size_t i = 1; i < count; i++) {
		struct planned_name name = names[i];
		uint64_t place = place_of(name.name, bits);
		size_t k = i;
		for (; k > 0 && place_of(names[k - 1].name, bits) >= place; k--)
			names[k] = names[k - 1];
		names[k] = name;
	}
}
