/* From a definition to the events that the kernel has to add: by debug information, by symbols, by static probe points, at an address.
 * Knows no tracefs. */
#pragma once
#include "elf/btf_types.h"
#include "probe/event.h"

struct probe_events {
	struct arena arena;           /* owns the texts */
	VEC(struct probe_event) list; /* events without a name: see probe_events_name */
};

void probe_events_fini(struct probe_events *events); /* accepts a zeroed one */
/* Appends at least one event, or fails. */
int probe_convert(struct probe_target *target, const struct probe_spec *spec, const struct probe_search *search,
	struct probe_events *events, struct error *err);

/* The same for the running kernel without its file: the kernel finds the function; parameters and their members are found by its type
 * information (BTF). module: a loaded module; NULL: the kernel itself. symbols: the text of /proc/kallsyms. types: NULL if they are not
 * published; then the kernel gets the names (Linux 6.6); of parameters in returns, too (Linux 6.9). */
int probe_convert_by_name(const struct probe_spec *spec, const char *module, const char *symbols, const struct btf_types *types,
	struct probe_events *events, struct error *err);

/* The names of existing events: "group:event". */
struct probe_names {
	struct strtab names;
};
void probe_names_fini(struct probe_names *names);
/* Names the event after the definition. Fails with ERROR_USAGE if the name exists and `again` is false; otherwise the name gets a
 * number. Fails, too, if a text of the event is more than one word to the kernel. */
int probe_event_set_name(struct probe_events *events, struct probe_event *event, const struct probe_spec *spec,
	const struct probe_names *names, bool again, struct error *err);
