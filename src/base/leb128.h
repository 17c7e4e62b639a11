/* LEB128 numbers, DWARF 5 §7.6. Bits beyond 64 are dropped. A number that has no end within LEB128_BYTES_MAX bytes sets short_read: a
 * run of continuation bytes costs a parser that tries each of them no more than that. */
#pragma once
#include "base/bytes.h"

enum { LEB128_BYTES_MAX = 92 };

/* The bits of a number, and in *bits how many its bytes hold; 0 and 0 if it does not end. *last: its last byte. */
static inline uint64_t take_leb(struct cursor *c, unsigned *bits, uint8_t *last)
{
	uint64_t value = 0;
	size_t end = cursor_left(c) < LEB128_BYTES_MAX ? c->len : c->at + LEB128_BYTES_MAX;
	for (unsigned shift = 0; c->at < end; shift += 7) {
		uint8_t byte = c->data[c->at++];
		read_once(byte);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*bits = shift + 7;
			*last = byte;
			return value;
		}
	}
	c->short_read = true;
	*bits = 0;
	*last = 0;
	return 0;
}

static inline uint64_t take_uleb(struct cursor *c)
{
	unsigned bits;
	uint8_t last;
	uint8_t byte = c->at < c->len ? c->data[c->at] : 0x80;
	read_once(byte);
	if (byte < 0x80) { /* nearly all are of one byte */
		c->at++;
		return byte;
	}
	return take_leb(c, &bits, &last);
}

static inline int64_t take_sleb(struct cursor *c)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = take_leb(c, &bits, &last);
	return (int64_t)(last & 0x40 && bits < 64 ? value | UINT64_MAX << bits : value);
}

static inline void skip_leb(struct cursor *c)
{
	(void)take_uleb(c);
}
