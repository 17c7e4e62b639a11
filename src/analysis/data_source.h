/* What a memory access did (perf_mem_data_src): its parts, and their names. Source: perf_event_open(2), "PERF_SAMPLE_DATA_SRC". */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum data_source_part {
	SOURCE_OPERATION, SOURCE_LEVEL, SOURCE_SNOOP, SOURCE_LOCK, SOURCE_TLB, SOURCE_LEVEL_NUMBER, SOURCE_REMOTE, SOURCE_SNOOP_MORE,
	SOURCE_BLOCK, SOURCE_HOPS,
};

/* What stands for an access of which nothing was recorded: "not available" in all parts. */
#define DATA_SOURCE_NONE (1ull << 0 | 1ull << 5 | 1ull << 19 | 1ull << 24 | 1ull << 26 | 15ull << 33)

/* The bits of one part, from bit 0. */
uint64_t data_source_part(uint64_t data_source, enum data_source_part part);

/* "L1 hit", "HitM", "L1 or L2 miss", "No": OPERATION, LEVEL, SNOOP, LOCK, TLB and BLOCK have texts. Returns its length. */
size_t data_source_text(uint64_t data_source, enum data_source_part part, char *buffer, size_t size);
