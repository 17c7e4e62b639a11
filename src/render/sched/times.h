/* Times as `sched` prints them. */
#pragma once
#include <stdint.h>

#include "base/writer.h"

/* "12.345678": seconds, right-aligned, further digits cut. */
void times_add_seconds(struct writer *out, uint64_t ns, unsigned width);
/* "123.456 ": milliseconds, their whole part right-aligned, further digits cut. */
void times_add_milliseconds(struct writer *out, uint64_t ns, unsigned width);
/* A column of times_add_milliseconds whose time is unknown. */
void times_add_unknown(struct writer *out, unsigned width);
