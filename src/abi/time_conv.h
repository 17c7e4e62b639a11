/* Conversion of the CPU's time stamp counter to the recording's clock, as the TIME_CONV record defines it. Source: perf_event.h,
 * "time_shift", "cap_user_time_short". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"

struct time_conv {
	uint64_t shift, mult, zero, cycles, mask;
	bool known;          /* the record is valid */
	bool short_counter;  /* the counter wraps: only the bits of mask count, starting at `cycles` */
};

void time_conv_read(struct time_conv *conv, const struct record *record);
/* Returns the time in ns of a counter value; 0 if the conversion is unknown. */
uint64_t time_conv_time(const struct time_conv *conv, uint64_t cycles);
/* Counter ticks of a duration in ns; 0 if the conversion is unknown. */
uint64_t time_conv_duration(const struct time_conv *conv, uint64_t ns);
/* The counter at a time in ns. */
static inline uint64_t time_conv_ticks(const struct time_conv *conv, uint64_t ns)
{
	return time_conv_duration(conv, ns - conv->zero);
}
