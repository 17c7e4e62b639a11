/* Text and bytes to a file descriptor through one buffer, or into memory. The first failed write is stored (`failed` = errno) and later
 * output is dropped: check once, at the end. Not thread-safe: one writer per thread. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

struct writer {
	char *buffer;
	size_t len, capacity;
	int fd;     /* -1: into memory, which grows; buffer[0..len) is the content */
	int failed; /* errno of the first write that failed */
	bool terminal;  /* the descriptor is or feeds a terminal: control characters become '?', except by writer_add_styled */
	size_t escaped;   /* bytes of the buffer that are already escaped */
	uint64_t written; /* bytes that reached the descriptor */
	void *screen;     /* of this terminal, for formats that paint instead of print (cmd/browse_screen); NULL: none is prepared */
};

void writer_open(struct writer *w, int fd, size_t capacity); /* does not own fd; fd -1: into memory */
int writer_flush(struct writer *w, struct error *err);
void writer_fini(struct writer *w); /* frees; does not flush */

void writer_room_slow(struct writer *w, size_t n);

/* A pointer to at least n bytes of room; writer_advance commits the bytes used. n must be <= 64 KiB for an fd. */
static inline char *writer_room(struct writer *w, size_t n)
{
	if (__builtin_expect(w->capacity - w->len < n, 0))
		writer_room_slow(w, n);
	return w->buffer + w->len;
}

static inline void writer_advance(struct writer *w, size_t n)
{
	w->len += n;
}

void writer_add_slow(struct writer *w, const void *data, size_t n);

static inline void writer_add(struct writer *w, const void *data, size_t n)
{
	if (__builtin_expect(w->capacity - w->len < n, 0)) {
		writer_add_slow(w, data, n);
		return;
	}
	if (n) /* data may be NULL if n is 0 */
		memcpy(w->buffer + w->len, data, n);
	w->len += n;
}

/* Writes an untrusted name within a line: line ends become '?'. Use it, or text_join_lines, for each name. */
void writer_name(struct writer *w, const char *text, size_t len);
/* Writes our own text with colours unchanged to a terminal; names in it must have passed text_make_printable. */
void writer_add_styled(struct writer *w, const char *text, size_t len);

static inline void writer_puts(struct writer *w, const char *text)
{
	writer_add(w, text, strlen(text));
}

static inline void writer_putc(struct writer *w, char c)
{
	*writer_room(w, 1) = c;
	w->len++;
}

void writer_pad(struct writer *w, char c, size_t n);
void writer_printf(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void writer_vprintf(struct writer *w, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* As printf's %*llx and %*llu: right-aligned in `width` columns with spaces; 0: minimal width. */
void writer_hex(struct writer *w, uint64_t value, unsigned width);
void writer_decimal(struct writer *w, uint64_t value, unsigned width);
/* As printf's %0*llu. */
void writer_zeros(struct writer *w, uint64_t value, unsigned digits);
/* As printf's %*.*f, rounded in the same way, but faster up to three decimals. Returns the number of characters. */
size_t writer_fixed(struct writer *w, double value, unsigned decimals, unsigned width);
/* As printf's %*s and %-*s. */
void writer_right(struct writer *w, const char *text, unsigned width);
void writer_left(struct writer *w, const char *text, unsigned width);
