/* How a recording's clock follows the processor's own counter: what TIME_CONV says. Source: perf_event.h, "time_shift",
 * "cap_user_time_short". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"

struct time_conv {
	uint64_t shift, mult, zero, cycles, mask;
	bool known;          /* a time can be told at all */
	bool short_counter;  /* only the bits of mask count, from `cycles` on */
};

void time_conv_read(struct time_conv *conv, const struct record *record);
/* The recording's time of a counter's value; where nothing is known, 0. */
uint64_t time_conv_time(const struct time_conv *conv, uint64_t cycles);
