/* LEB128 numbers, DWARF 5 §7.6. Bits beyond 64 are dropped. */
#pragma once
#include "base/bytes.h"

static inline uint64_t take_uleb(struct cursor *c)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		const uint8_t *p = take(c, 1);
		if (!p)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return value;
		if (shift > 640) {
			c->short_read = true;
			return 0;
		}
	}
}

static inline int64_t take_sleb(struct cursor *c)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; ) {
		const uint8_t *p = take(c, 1);
		if (!p)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(*p & 0x7f) << shift;
		shift += 7;
		if (!(*p & 0x80)) {
			if ((*p & 0x40) && shift < 64)
				value |= UINT64_MAX << shift;
			return (int64_t)value;
		}
		if (shift > 640) {
			c->short_read = true;
			return 0;
		}
	}
}
