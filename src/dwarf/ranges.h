/* Address ranges: reading the lists of DW_AT_ranges, and converting overlapping ranges to segments, so that one binary search finds the
 * innermost range. */
#pragma once
#include "dwarf/internal.h"

struct dwarf_range {
	uint64_t low, high;   /* high is exclusive */
	uint32_t value;
};

struct dwarf_ranges {
	struct dwarf_range *items;
	size_t count, capacity;
	size_t limit;         /* maximum count; 0: unlimited */
	bool refused;         /* some ranges are missing: the limit or the budget is exceeded */
};

/* Appends a range unless it is empty or describes code that the linker discarded. */
void dwarf_ranges_add(struct dwarf_ranges *ranges, struct dwarf *dwarf, uint64_t low, uint64_t high, uint32_t value);
/* Appends the list that DW_AT_ranges with this form and number refers to, up to the first damage. */
void dwarf_ranges_read(struct dwarf_ranges *ranges, const struct dwarf_unit *unit, uint16_t form, uint64_t number, uint32_t value);

/* Segment i reaches from starts[i] to starts[i + 1]; values[i] is SEGMENT_NONE in gaps and in the last segment. */
struct dwarf_segments {
	uint64_t *starts;     /* values is in the same block: free(starts) */
	uint32_t *values;
	uint32_t count;
};

/* Of the ranges at one address the shortest wins, of equally long ones that with the highest (latest) or lowest value. Sorts ranges.
 * Returns false if the memory limit is exceeded. */
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
