/* Formats of the running kernel's tracepoints. Source: tracefs, events/SYSTEM/EVENT/format (Documentation/trace/events.rst). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct live;

struct live_format {
	char *system;
	char *text;
	size_t len;
};

int live_open(struct live **out, struct error *err);
void live_close(struct live *live); /* NULL is allowed */
/* Reads the format of an event id, to be released with live_format_fini. Returns < 0 if the id is unknown or its file is unreadable. */
int live_read(struct live *live, uint64_t id, struct live_format *format);
void live_format_fini(struct live_format *format);
