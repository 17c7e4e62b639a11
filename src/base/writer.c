#include "base/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/str.h"

enum { MIN_CAPACITY = 64 * 1024 };

void writer_open(struct writer *w, int fd, size_t capacity)
{
	*w = (struct writer){ .fd = fd, .capacity = capacity < MIN_CAPACITY ? MIN_CAPACITY : capacity };
	w->buffer = memory_alloc(w->capacity);
}

void writer_fini(struct writer *w)
{
	free(w->buffer);
	*w = (struct writer){ .fd = -1 };
}

static void writer_send(struct writer *w, const char *data, size_t n)
{
	while (n && !w->failed) {
		ssize_t done = write(w->fd, data, n);
		if (done < 0) {
			if (errno == EINTR)
				continue;
			w->failed = errno;
			return;
		}
		data += done;
		n -= (size_t)done;
		w->written += (uint64_t)done;
	}
}

/* Escapes the bytes added since the last call; returns how many bytes of the buffer may be written. */
static size_t writer_escape(struct writer *w)
{
	w->escaped += text_escape(w->buffer + w->escaped, w->len - w->escaped, true);
	return w->escaped;
}

/* Makes room by writing the buffer. A truncated character at the end waits for the rest of it. */
static void writer_drain(struct writer *w)
{
	size_t ready = w->terminal ? writer_escape(w) : w->len;
	writer_send(w, w->buffer, ready);
	w->len -= ready;
	w->escaped = 0;
	memmove(w->buffer, w->buffer + ready, w->len);
}

int writer_flush(struct writer *w, struct error *err)
{
	if (w->fd >= 0) {
		writer_drain(w);
		text_escape(w->buffer, w->len, false);
		writer_send(w, w->buffer, w->len);
		w->len = 0;
	}
	if (!w->failed)
		return 0;
	errno = w->failed;
	return error_system(err, "cannot write the output");
}

void writer_room_slow(struct writer *w, size_t n)
{
	if (w->fd >= 0) {
		writer_drain(w);
		if (n <= w->capacity - w->len)
			return;
	}
	size_t capacity = w->capacity ? w->capacity : MIN_CAPACITY;
	while (capacity - w->len < n)
		capacity *= 2;
	w->buffer = memory_resize(w->buffer, capacity, 1);
	w->capacity = capacity;
}

void writer_add_slow(struct writer *w, const void *data, size_t n)
{
	if (w->fd >= 0 && n >= w->capacity / 4 && !w->terminal) {
		writer_flush(w, NULL);
		writer_send(w, data, n);
		return;
	}
	memcpy(writer_room(w, n), data, n);
	w->len += n;
}

void writer_name(struct writer *w, const char *text, size_t len)
{
	while (len) {
		size_t piece = len < MIN_CAPACITY ? len : MIN_CAPACITY;
		char *room = writer_room(w, piece);
		memcpy(room, text, piece);
		text_join_lines(room, piece);
		writer_advance(w, piece);
		text += piece;
		len -= piece;
	}
}

void writer_add_styled(struct writer *w, const char *text, size_t len)
{
	if (w->terminal)
		writer_escape(w);
	bool whole = w->escaped == w->len;
	writer_add(w, text, len);
	if (whole)
		w->escaped = w->len;
}

void writer_pad(struct writer *w, char c, size_t n)
{
	while (n) {
		size_t piece = n < 4096 ? n : 4096;
		memset(writer_room(w, piece), c, piece);
		w->len += piece;
		n -= piece;
	}
}

void writer_vprintf(struct writer *w, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	char *room = writer_room(w, 256);
	int n = vsnprintf(room, 256, format, args);
	if (n >= 256) {
		char *text = memory_alloc((size_t)n + 1);
		vsnprintf(text, (size_t)n + 1, format, again);
		writer_add(w, text, (size_t)n);
		free(text);
	} else if (n > 0) {
		w->len += (size_t)n;
	}
	va_end(again);
}

void writer_printf(struct writer *w, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	writer_vprintf(w, format, args);
	va_end(args);
}

static void writer_aligned(struct writer *w, const char *digits, size_t n, unsigned width)
{
	if (width > n)
		writer_pad(w, ' ', width - n);
	writer_add(w, digits, n);
}

void writer_hex(struct writer *w, uint64_t value, unsigned width)
{
	char digits[16];
	size_t at = sizeof digits;
	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	writer_aligned(w, digits + at, sizeof digits - at, width);
}

/* value × 10^decimals to the nearest whole number, halves to the even one. 0 <= value < 2^52: the product has 63 bits. */
static uint64_t fixed_point(double value, unsigned decimals)
{
	static const uint16_t powers[] = { 1, 10, 100, 1000 };
	enum { MANTISSA_BITS = 52, BIAS = 1023 + MANTISSA_BITS, PRODUCT_BITS = 63 };
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	uint64_t exponent = bits >> MANTISSA_BITS, fraction = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
	unsigned shift = BIAS - (unsigned)exponent;
	if (shift > PRODUCT_BITS) /* less than half of the last decimal */
		return 0;
	uint64_t scaled = (fraction | (uint64_t)1 << MANTISSA_BITS) * powers[decimals];
	uint64_t half = (uint64_t)1 << (shift - 1), rest = scaled & (2 * half - 1), whole = scaled >> shift;
	return whole + (rest > half || (rest == half && whole & 1));
}

size_t writer_fixed(struct writer *w, double value, unsigned decimals, unsigned width)
{
	char digits[24], slow[512]; /* a double has up to 309 digits */
	size_t at = sizeof digits;
	if (!(value >= 0 && value < 0x1p52) || __builtin_signbit(value) || decimals > 3) {
		size_t n = (size_t)snprintf(slow, sizeof slow, "%.*f", decimals < 100 ? (int)decimals : 100, value);
		writer_aligned(w, slow, n, width);
		return n < width ? width : n;
	}
	uint64_t rest = fixed_point(value, decimals);
	for (unsigned i = 0; i < decimals; i++, rest /= 10)
		digits[--at] = (char)('0' + rest % 10);
	if (decimals)
		digits[--at] = '.';
	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	writer_aligned(w, digits + at, sizeof digits - at, width);
	return sizeof digits - at < width ? width : sizeof digits - at;
}

void writer_right(struct writer *w, const char *text, unsigned width)
{
	writer_aligned(w, text, strlen(text), width);
}

void writer_left(struct writer *w, const char *text, unsigned width)
{
	size_t length = strlen(text);
	writer_add(w, text, length);
	if (length < width)
		writer_pad(w, ' ', width - length);
}

void writer_decimal(struct writer *w, uint64_t value, unsigned width)
{
	char digits[20];
	size_t at = sizeof digits;
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	writer_aligned(w, digits + at, sizeof digits - at, width);
}

void writer_zeros(struct writer *w, uint64_t value, unsigned digits)
{
	unsigned wide = 1;
	for (uint64_t rest = value; rest >= 10; rest /= 10)
		wide++;
	if (digits > wide)
		writer_pad(w, '0', digits - wide);
	writer_decimal(w, value, 0);
}
