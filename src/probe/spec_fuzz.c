/* Parses any text as a definition, a range of lines, a filter, a lazy pattern and a line of the kernel's lists. Names of events must be
 * those that the kernel accepts. */
#include <stdlib.h>

#include "probe/event.h"
#include "probe/pattern.h"
#include "probe/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 4096 };

static void parse_event(const char *text)
{
	struct arena arena = { 0 };
	struct probe_event event;
	CLEANUP_STR struct str line = { 0 };
	char name[PROBE_NAME_MAX];
	if (probe_event_read(&event, text, &arena)) {
		probe_event_text(&event, &line);
		probe_group_name(event.path ? event.path : "/", name);
	}
	probe_event_fini(&event);
	probe_event_name(text, true, name);
	if (*text && !probe_is_name(name))
		abort();
	arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX];
	size_t len = size < sizeof text ? size : sizeof text - 1;
	struct probe_spec spec;
	struct probe_range range;
	struct probe_filter *filter;
	struct error err;
	CLEANUP_STR struct str place = { 0 };
	memcpy(text, data, len);
	text[len] = '\0';
	if (probe_spec_parse(&spec, text, &err) == 0) {
		probe_spec_place(&spec, &place);
		for (size_t i = 0; i < spec.arguments.count; i++)
			probe_argument_text(&spec.arguments.items[i], &place);
		bool derived = spec.event && strstr(spec.event, "_L");
		if (!spec.sdt && ((spec.event && !derived && !probe_is_name(spec.event)) || (spec.group && !probe_is_name(spec.group))))
			abort();
	}
	probe_spec_fini(&spec);
	probe_range_parse(&range, text, &err);
	probe_range_fini(&range);
	if (probe_filter_parse(&filter, text, &err) == 0)
		probe_filter_passes(filter, "main");
	probe_filter_free(filter);
	if (len < 64)
		probe_lazy(text, "for (i = 0; i < 3; i++)");
	parse_event(text);
	return 0;
}
