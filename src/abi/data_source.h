/* Parts of perf_mem_data_src (how a memory access was served) and their names. Source: perf_event_open(2), "PERF_SAMPLE_DATA_SRC". */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum data_source_part {
	SOURCE_OPERATION, SOURCE_LEVEL, SOURCE_SNOOP, SOURCE_LOCK, SOURCE_TLB, SOURCE_LEVEL_NUMBER, SOURCE_REMOTE, SOURCE_SNOOP_MORE,
	SOURCE_BLOCK, SOURCE_HOPS,
};

/* The value for an access without a recorded data source: "not available" in all parts. */
#define DATA_SOURCE_NONE (1ull << 0 | 1ull << 5 | 1ull << 19 | 1ull << 24 | 1ull << 26 | 15ull << 33)

/* Returns the bits of one part, shifted to bit 0. */
uint64_t data_source_part(uint64_t data_source, enum data_source_part part);

/* Writes a name such as "L1 hit", "HitM", "L1 or L2 miss" or "No" into buffer, cut at `size`, and returns its length. Parts with names:
 * OPERATION, LEVEL, SNOOP, LOCK, TLB, BLOCK; the others give "". */
size_t data_source_text(uint64_t data_source, enum data_source_part part, char *buffer, size_t size);
