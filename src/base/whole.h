/* Whole numbers of doubles that come from a recording: C defines no conversion of those that the type does not have. */
#pragma once
#include <math.h>
#include <stdint.h>

/* The whole number below; the nearest one of the type: 0 for negative values and NaN, UINT64_MAX from 2^64 on. */
static inline uint64_t whole_below(double value)
{
	return value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;
}

/* The nearest whole number; halves are rounded up. */
static inline uint64_t whole_near(double value)
{
	return whole_below(round(value));
}
