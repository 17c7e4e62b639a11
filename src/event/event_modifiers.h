/* The modifier letters after an event or an event group: "u", "ppp", "SD". Internal to event/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct event;

struct event_modifiers {
	bool user, kernel, hypervisor, host, guest, idle, sample_read, precise_max, pinned, exclusive, weak, bpf, retire_latency;
	unsigned precise;
};

/* Parses letters. < 0: *what is the reason, *wrong the index of the letter. */
int event_modifiers_parse(const char *text, size_t length, struct event_modifiers *modifiers, size_t *wrong, const char **what);
/* group: the modifiers follow the braces of an event group; leader: the event leads its group. < 0: the precision exceeds 3. */
int event_modifiers_apply(const struct event_modifiers *modifiers, struct event *event, bool group, bool leader);
