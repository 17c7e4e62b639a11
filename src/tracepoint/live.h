/* The running kernel's formats, from tracefs. */
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
void live_close(struct live *live); /* NULL is fine */
/* The format of an event id; < 0: there is none. */
int live_read(struct live *live, uint64_t id, struct live_format *format);
void live_format_fini(struct live_format *format);
