/* Untrusted bytes: a borrowed span, and the cursor through which all parsers read it.
 *
 * A cursor never reads past its end. A read that does not fit returns 0 (or NULL), leaves the position unchanged and sets `short_read`,
 * which stays set: a parser may read a whole structure and check once. Knows no format.
 *
 * The bytes may belong to a mapped file that its owner changes at the same time (docs/decisions/008): a number is read once, and the
 * compiler must not read it again after it was checked. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { HOST_IS_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

/* Keeps the compiler from reading the value again from memory. */
#define read_once(value) __asm__("" : "+r"(value))

struct span {
	const uint8_t *data;
	size_t len;
};

struct cursor {
	const uint8_t *data;
	size_t len;
	size_t at;
	bool swap;       /* the bytes are of the opposite byte order */
	bool short_read; /* a read did not fit; never reset */
};

static inline struct cursor cursor_of(const void *data, size_t len, bool swap)
{
	return (struct cursor){ .data = data, .len = len, .swap = swap };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->len - c->at;
}

/* The next n bytes, borrowed from the span; NULL if they do not fit. */
static inline const uint8_t *take(struct cursor *c, size_t n)
{
	if (__builtin_expect(n > c->len - c->at, 0)) {
		c->short_read = true;
		return NULL;
	}
	const uint8_t *p = c->data + c->at;
	c->at += n;
	return p;
}

static inline uint8_t take_u8(struct cursor *c)
{
	const uint8_t *p = take(c, 1);
	uint8_t v = p ? *p : 0;
	read_once(v);
	return v;
}

static inline uint16_t take_u16(struct cursor *c)
{
	uint16_t v = 0;
	const uint8_t *p = take(c, sizeof v);
	if (p)
		memcpy(&v, p, sizeof v);
	read_once(v);
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t take_u32(struct cursor *c)
{
	uint32_t v = 0;
	const uint8_t *p = take(c, sizeof v);
	if (p)
		memcpy(&v, p, sizeof v);
	read_once(v);
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t take_u64(struct cursor *c)
{
	uint64_t v = 0;
	const uint8_t *p = take(c, sizeof v);
	if (p)
		memcpy(&v, p, sizeof v);
	read_once(v);
	return c->swap ? __builtin_bswap64(v) : v;
}

/* A string in a field of n bytes: its length without the padding; NULL if the field does not fit. */
static inline const char *take_string(struct cursor *c, size_t n, size_t *length)
{
	const uint8_t *p = take(c, n);
	*length = p ? strnlen((const char *)p, n) : 0;
	return (const char *)p;
}

static inline uint64_t load_u64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	read_once(v);
	return v;
}

static inline uint16_t load_u16(const void *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	read_once(v);
	return v;
}

static inline uint8_t load_u8(const void *p)
{
	uint8_t v = *(const uint8_t *)p;
	read_once(v);
	return v;
}

static inline uint32_t load_u32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	read_once(v);
	return v;
}
