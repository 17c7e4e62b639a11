/* The letters after an event or a group: "u", "ppp", "SD". Internal to event/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct event;

struct event_modifiers {
	bool user, kernel, hypervisor, host, guest, idle, sample_read, precise_max, pinned, exclusive, weak, bpf, retire_latency;
	unsigned precise;
};

/* Reads letters from text[*at] on, as far as they go. < 0: *what says why, *at where. */
int event_modifiers_parse(const char *text, size_t *at, struct event_modifiers *modifiers, const char **what);
/* group: they stand after the braces, `leader`: the event is the first in them. */
void event_modifiers_apply(const struct event_modifiers *modifiers, struct event *event, bool group, bool leader);
