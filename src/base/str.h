/* Text: a growing buffer, interned strings, and escaping for output. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A growing text, NUL-terminated once anything was added (str_text returns "" before). */
struct str {
	char *text;
	size_t len, capacity;
};

void str_fini(struct str *s);
void str_clear(struct str *s);
void str_reserve(struct str *s, size_t room); /* reserves `room` more bytes and a NUL */
void str_add(struct str *s, const char *text, size_t len);
void str_puts(struct str *s, const char *text);
void str_putc(struct str *s, char c);
void str_pad(struct str *s, char c, size_t count);
void str_printf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_vprintf(struct str *s, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
static inline const char *str_text(const struct str *s) { return s->text ? s->text : ""; }
static inline void cleanup_str(struct str *s) { str_fini(s); }
#define CLEANUP_STR __attribute__((cleanup(cleanup_str)))

/* Interned strings: equal text has equal id, ids are consecutive from 0, texts never move. */
struct strtab {
	struct arena arena;
	const char **texts;
	uint32_t *lengths;
	uint32_t *slots; /* open addressing: id + 1, 0 if free */
	uint32_t count, capacity, slot_count;
};

void strtab_fini(struct strtab *tab);
uint32_t strtab_add(struct strtab *tab, const char *text, size_t len); /* stops at an inner NUL */
uint32_t strtab_find(const struct strtab *tab, const char *text, size_t len); /* UINT32_MAX if absent */
static inline const char *strtab_text(const struct strtab *tab, uint32_t id) { return tab->texts[id]; }

/* Escapes untrusted text in place, byte for byte, so that columns stay aligned. Bytes that a terminal interprets become '?': below 0x20,
 * 0x7f, 0x80 to 0x9f outside of valid UTF-8, and in UTF-8 C1 controls, writing directions and line separators. */
void text_make_printable(char *text);
bool text_is_printable(const char *text, size_t len);
/* The same for a piece of output, in which newlines (CR LF, too) and tabs are retained. more: the next piece may continue a character; one
 * that is truncated at the end is left for that piece. Returns the number of bytes processed. */
size_t text_escape(char *text, size_t len, bool more);
/* Replaces each line end that any reader recognizes by '?': a name must not break a line in two. Other bytes are unchanged. */
void text_join_lines(char *text, size_t len);
/* As str_vprintf; line ends inside arguments become '?', newlines of the format remain. */
void str_vprintf_line(struct str *s, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Copies text and joins its lines: for names from a recording by which no file is opened. */
const char *text_one_line(struct arena *arena, const char *text, size_t len);
bool text_is_line(const char *text, size_t len); /* contains nothing that text_join_lines changes */
uint32_t strtab_add_line(struct strtab *tab, const char *text, size_t len);
/* Copies text of at most `room` bytes, truncated to size - 1 bytes (size > 0), and terminates the copy even if text changes meanwhile.
 * Returns the length of the copy. */
size_t text_copy(char *copy, size_t size, const void *text, size_t room);
