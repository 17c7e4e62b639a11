/* Words of bit fields: the first field is at the low end of the word on little-endian machines and at the high end on big-endian ones. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reverses the order of the fields, but not the order of the bits in a field. widths: of the fields in bits, in the order of declaration,
 * 64 together; to_big: the word is of a little-endian machine, otherwise of a big-endian one. */
static inline uint64_t bit_fields_mirrored(uint64_t word, const uint8_t *widths, size_t count, bool to_big)
{
	uint64_t out = 0;
	unsigned at = 0;
	for (size_t i = 0; i < count; i++) {
		unsigned there = 64 - at - widths[i], from = to_big ? at : there, to = to_big ? there : at;
		uint64_t mask = ((uint64_t)1 << widths[i]) - 1;
		out |= (word >> from & mask) << to;
		at += widths[i];
	}
	return out;
}
