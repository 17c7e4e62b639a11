/* An event attribute as text, field by field, in the order `evlist -v` and the header's "# event" lines show.
 * What only the running machine can tell (names of PMUs and of their events) comes through struct attr_names. */
#pragma once
#include "abi/attr.h"

/* Names of the machine that reads the recording. A callback answers NULL where it knows none; text is borrowed until the next
 * call. NULL instead of the whole struct, or of one callback: no names. */
struct attr_names {
	void *context;
	const char *(*pmu)(void *context, uint32_t type);                     /* "software" */
	const char *(*event)(void *context, uint32_t type, uint64_t config); /* an event of that PMU, a tracepoint "system:name" */
};

/* Called for type, config and every other field that is not zero. text is borrowed for the call. */
typedef void attr_field_visit(void *context, const char *name, const char *text);

void attr_each_field(const struct attr *attr, const struct attr_names *names, attr_field_visit *visit, void *context);
