/* Runs of addresses: the lists of DW_AT_ranges, and laying overlapping runs over each other so that one search answers
 * which of them is innermost. */
#pragma once
#include "elf/dwarf_internal.h"

struct dwarf_range {
	uint64_t low, high;   /* high exclusive */
	uint32_t value;
};

struct dwarf_ranges {
	struct dwarf_range *items;
	size_t count, capacity;
	size_t limit;         /* more are not taken; 0: no such limit */
	bool refused;         /* some were left out: beyond the limit, or the budget is spent */
};

/* Adds a run where code can lie; others (empty, discarded by the linker) are dropped. */
void dwarf_ranges_add(struct dwarf_ranges *ranges, struct dwarf *dwarf, uint64_t low, uint64_t high, uint32_t value);
/* Adds the list that DW_AT_ranges of that form and number names. What follows damage is left out. */
void dwarf_ranges_read(struct dwarf_ranges *ranges, const struct dwarf_unit *unit, uint16_t form, uint64_t number, uint32_t value);

/* Segment i holds starts[i] up to starts[i + 1]; values[i] is SEGMENT_NONE in gaps, and always in the last one. */
struct dwarf_segments {
	uint64_t *starts;     /* values lie in the same block: free(starts) */
	uint32_t *values;
	uint32_t count;
};

/* Of runs over one address the shortest wins, of equally long ones that of the highest (latest) or lowest value. Sorts ranges. False:
 * refused by the memory limit. */
bool dwarf_segments_make(struct dwarf_segments *segments, struct dwarf *dwarf, struct dwarf_ranges *ranges, bool latest);

static inline uint32_t dwarf_segment_at(const uint64_t *starts, const uint32_t *values, uint32_t count, uint64_t address)
{
	const uint64_t *base = starts;
	if (!count || address < starts[0])
		return SEGMENT_NONE;
	for (uint32_t n = count; n > 1;) {
		uint32_t half = n / 2;
		base += base[half] <= address ? half : 0;
		n -= half;
	}
	return values[base - starts];
}
