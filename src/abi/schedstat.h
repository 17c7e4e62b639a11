/* The counters of the scheduler at one moment: those of a CPU, or of one scheduler domain of a CPU, as /proc/schedstat lists them and the
 * records SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN of perf 7 store them. Does not know what the counters mean. Source:
 * Documentation/scheduler/sched-stats.rst of Linux (versions 15 to 17); layout of the records: tools/lib/perf of Linux 7.0. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/record.h"

enum {
	SCHEDSTAT_VERSION_MIN = 15, SCHEDSTAT_VERSION_MAX = 17,
	SCHEDSTAT_CPU_VALUES = 9, SCHEDSTAT_VALUES_MAX = 45,
	SCHEDSTAT_CPU_NARROW = 6, /* the first values of a CPU have 32 bits, the others 64; those of domains have 32 bits */
	SCHEDSTAT_NO_DOMAIN = -1, /* a row of a CPU itself */
	SCHEDSTAT_CPU_BODY = 16 + SCHEDSTAT_CPU_NARROW * 4 + (SCHEDSTAT_CPU_VALUES - SCHEDSTAT_CPU_NARROW) * 8,
	SCHEDSTAT_BODY_MAX = 16 + SCHEDSTAT_VALUES_MAX * 4,
};

struct schedstat_row {
	uint64_t timestamp;       /* jiffies */
	uint32_t cpu;
	int32_t domain;           /* SCHEDSTAT_NO_DOMAIN, or its number, from the innermost one */
	uint16_t version;
	uint64_t values[SCHEDSTAT_VALUES_MAX];
};

/* The number of values of a row; 0: unknown version. */
unsigned schedstat_values(uint16_t version, bool domain);
/* Whether the value has 64 bits; otherwise it wraps at 32. */
static inline bool schedstat_is_wide(const struct schedstat_row *row, unsigned index)
{
	return row->domain == SCHEDSTAT_NO_DOMAIN && index >= SCHEDSTAT_CPU_NARROW;
}

/* Decodes a record of these types in native order; false: another type, an unknown version, or too few bytes. */
bool schedstat_decode(struct schedstat_row *row, const struct record *record);
/* Writes the body of the record of a row with a known version; returns its size. */
size_t schedstat_encode(const struct schedstat_row *row, uint8_t body[static SCHEDSTAT_BODY_MAX]);
