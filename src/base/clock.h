/* The monotonic clock. */
#pragma once
#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The same in milliseconds; signed, so that the time left until a deadline may be negative. */
static inline int64_t now_ms(void)
{
	return (int64_t)(now_ns() / 1000000);
}
