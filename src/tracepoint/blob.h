/* The parts of a TRACING_DATA body: format texts and printk strings, borrowed from the body. Source: trace-cmd's trace.dat(5) up to
 * version 6, as perf writes it. */
#pragma once
#include <stdbool.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"

struct blob_format {
	const char *system; /* NUL-terminated in the body */
	struct span text;
};

struct blob {
	bool swap, big_endian;
	uint8_t long_size; /* size of a long of the recorded kernel: 4 or 8 bytes */
	VEC(struct blob_format) formats;
	struct span printks;
	bool cut; /* the body ends early, or a size exceeds it; the parts before that are valid */
};

/* Fails with ERROR_FORMAT if the body does not begin like TRACING_DATA. */
int blob_parse(struct blob *blob, struct span bytes, struct error *err);
void blob_fini(struct blob *blob);
