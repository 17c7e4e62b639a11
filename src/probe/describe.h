/* From an existing event back to its place in the source. Knows no tracefs. */
#pragma once
#include "probe/event.h"

/* Appends the place of an event as perf lists it: "main:3@src/a.c", "malloc+8", "0x1234". target: the opened program; NULL: not found. */
void probe_describe(struct probe_target *target, const struct probe_event *event, struct str *to);
