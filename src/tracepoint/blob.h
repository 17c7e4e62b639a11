/* The TRACING_DATA blob taken apart: format texts and what goes with them, borrowed from the blob.
 * Source: trace-cmd's trace.dat (version 6 and before), as perf writes it. */
#pragma once
#include <stdbool.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"

struct blob_format {
	const char *system; /* NUL-terminated in the blob */
	struct span text;
};

struct blob {
	bool swap, big_endian;
	uint8_t long_size; /* of the recorded kernel */
	VEC(struct blob_format) formats;
	struct span printks;
	bool cut; /* it ended early, or a size in it could not be */
};

/* < 0: not such a blob at all. What is whole stays in *blob otherwise. */
int blob_parse(struct blob *blob, struct span bytes, struct error *err);
void blob_fini(struct blob *blob);
