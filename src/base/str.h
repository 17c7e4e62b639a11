/* Text: a growing buffer, interned strings, and escapes for the places text goes to. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A growing text, always NUL-terminated once anything was added (str_text is "" before). */
struct str {
	char *text;
	size_t len, capacity;
};

void str_fini(struct str *s);
void str_clear(struct str *s);
void str_reserve(struct str *s, size_t room); /* room for `room` more bytes and a NUL */
void str_add(struct str *s, const char *text, size_t len);
void str_puts(struct str *s, const char *text);
void str_putc(struct str *s, char c);
void str_printf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_vprintf(struct str *s, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
static inline const char *str_text(const struct str *s) { return s->text ? s->text : ""; }
static inline void cleanup_str(struct str *s) { str_fini(s); }
#define CLEANUP_STR __attribute__((cleanup(cleanup_str)))

/* Interned strings: equal text has equal id, ids are dense from 0, texts never move. */
struct strtab {
	struct arena arena;
	const char **texts;
	uint32_t *lengths;
	uint32_t *slots; /* open addressing: id + 1, 0 free */
	uint32_t count, capacity, slot_count;
};

void strtab_fini(struct strtab *tab);
uint32_t strtab_add(struct strtab *tab, const char *text, size_t len); /* stops at an inner NUL */
uint32_t strtab_find(const struct strtab *tab, const char *text, size_t len); /* UINT32_MAX where absent */
static inline const char *strtab_text(const struct strtab *tab, uint32_t id) { return tab->texts[id]; }

/* Control bytes (below 0x20, 0x7f, and UTF-8-encoded C1) become '?' so that a name cannot drive a terminal; in place. */
void text_make_printable(char *text);
bool text_is_printable(const char *text, size_t len);
