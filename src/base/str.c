#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

void str_fini(struct str *s)
{
	free(s->text);
	*s = (struct str){ 0 };
}

void str_clear(struct str *s)
{
	s->len = 0;
	if (s->text)
		s->text[0] = '\0';
}

void str_reserve(struct str *s, size_t room)
{
	if (room < s->capacity - s->len)
		return;
	size_t capacity = s->capacity ? s->capacity * 2 : 64;
	while (capacity - s->len <= room)
		capacity *= 2;
	s->text = memory_resize(s->text, capacity, 1);
	s->capacity = capacity;
}

void str_add(struct str *s, const char *text, size_t len)
{
	str_reserve(s, len);
	if (len)
		memcpy(s->text + s->len, text, len);
	s->len += len;
	s->text[s->len] = '\0';
}

void str_puts(struct str *s, const char *text)
{
	str_add(s, text, strlen(text));
}

void str_putc(struct str *s, char c)
{
	str_add(s, &c, 1);
}

void str_pad(struct str *s, char c, size_t count)
{
	str_reserve(s, count);
	memset(s->text + s->len, c, count);
	s->len += count;
	s->text[s->len] = '\0';
}

void str_vprintf(struct str *s, const char *format, va_list args)
{
	enum { USUAL = 64 };
	va_list again;
	va_copy(again, args);
	str_reserve(s, USUAL);
	size_t room = s->capacity - s->len;
	int n = vsnprintf(s->text + s->len, room, format, args);
	if (n > 0 && (size_t)n >= room) {
		str_reserve(s, (size_t)n);
		vsnprintf(s->text + s->len, (size_t)n + 1, format, again);
	}
	s->text[s->len += n > 0 ? (size_t)n : 0] = '\0';
	va_end(again);
}

void str_printf(struct str *s, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	str_vprintf(s, format, args);
	va_end(args);
}

void strtab_fini(struct strtab *tab)
{
	arena_fini(&tab->arena);
	free(tab->texts);
	free(tab->lengths);
	free(tab->slots);
	*tab = (struct strtab){ 0 };
}

static uint32_t *strtab_slot(const struct strtab *tab, const char *text, size_t len)
{
	uint32_t mask = tab->slot_count - 1;
	uint32_t i = (uint32_t)hash_bytes_from((uintptr_t)tab->slots, text, len) & mask;
	for (; tab->slots[i]; i = (i + 1) & mask) {
		uint32_t id = tab->slots[i] - 1;
		if (tab->lengths[id] == len && memcmp(tab->texts[id], text, len) == 0)
			break;
	}
	return &tab->slots[i];
}

static void strtab_grow(struct strtab *tab)
{
	free(tab->slots);
	tab->slot_count = tab->slot_count ? tab->slot_count * 2 : 64;
	tab->slots = memory_zero(tab->slot_count, sizeof *tab->slots);
	for (uint32_t id = 0; id < tab->count; id++)
		*strtab_slot(tab, tab->texts[id], tab->lengths[id]) = id + 1;
}

uint32_t strtab_add(struct strtab *tab, const char *text, size_t len)
{
	len = strnlen(text, len);
	if (tab->count * 2 >= tab->slot_count)
		strtab_grow(tab);
	uint32_t *slot = strtab_slot(tab, text, len);
	if (*slot)
		return *slot - 1;
	if (tab->count == tab->capacity) {
		tab->capacity = tab->capacity ? tab->capacity * 2 : 64;
		tab->texts = memory_resize(tab->texts, tab->capacity, sizeof *tab->texts);
		tab->lengths = memory_resize(tab->lengths, tab->capacity, sizeof *tab->lengths);
	}
	tab->texts[tab->count] = arena_string(&tab->arena, text, len);
	tab->lengths[tab->count] = (uint32_t)len;
	*slot = ++tab->count;
	return tab->count - 1;
}

uint32_t strtab_find(const struct strtab *tab, const char *text, size_t len)
{
	len = strnlen(text, len);
	uint32_t slot = tab->slot_count ? *strtab_slot(tab, text, len) : 0;
	return slot ? slot - 1 : UINT32_MAX;
}

/* The length of the UTF-8 sequence at p: 0 if invalid, more than `left` if truncated. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	size_t len = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < len && i < left; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if (left > 1 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
			    (p[0] == 0xf4 && p[1] >= 0x90)))
		return 0; /* overlong, a surrogate, beyond U+10FFFF */
	return len;
}

/* Non-ASCII control characters of terminals: C1, and characters that change the writing direction or separate lines. */
static bool utf8_is_control(const unsigned char *p, size_t len)
{
	uint32_t c = len == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu) : 0;
	if (len == 3)
		c = (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	return (c >= 0x80 && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/* The length of the character at p; sets *control if a terminal interprets it. An invalid byte is a character of its own. */
static size_t character(const unsigned char *p, size_t left, bool *control)
{
	if (*p < 0x80) {
		*control = *p < 0x20 || *p == 0x7f;
		return 1;
	}
	size_t len = utf8_length(p, left);
	if (!len || len > left) {
		*control = *p < 0xa0;
		return len ? len : 1;
	}
	*control = utf8_is_control(p, len);
	return len;
}

bool text_is_printable(const char *text, size_t len)
{
	bool control;
	for (size_t i = 0; i < len;) {
		size_t n = character((const unsigned char *)text + i, len - i, &control);
		if (control)
			return false;
		i += n > len - i ? 1 : n;
	}
	return true;
}

static size_t escape(char *text, size_t len, const char *allowed, bool more)
{
	size_t i = 0;
	while (i < len) {
		bool control;
		size_t n = character((const unsigned char *)text + i, len - i, &control);
		bool before_newline = *allowed && text[i] == '\r' && (i + 1 == len ? more : text[i + 1] == '\n');
		if ((n > len - i && more) || (before_newline && i + 1 == len))
			return i;
		if (n > len - i)
			n = 1;
		if (control && !before_newline && !(n == 1 && text[i] && strchr(allowed, text[i])))
			memset(text + i, '?', n);
		i += n;
	}
	return i;
}

void text_make_printable(char *text)
{
	escape(text, strlen(text), "", false);
}

size_t text_escape(char *text, size_t len, bool more)
{
	return escape(text, len, "\n\t", more);
}

static uint64_t odd_bits(const char *text)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word;
	memcpy(&word, text, sizeof word);
	return ((word - ones * 0x20) | word) & ones * 0x80;
}

/* Whether text contains a byte below 0x20 or above 0x7f: every line end contains one. Runs on each line of some outputs, so it checks many
 * bytes at once. */
static bool is_odd(const char *text, size_t len)
{
	size_t at = 0;
	uint64_t odd = 0;
	if (len < 8)
		return true;
	for (; len - at >= 32; at += 32)
		odd |= odd_bits(text + at) | odd_bits(text + at + 8) | odd_bits(text + at + 16) | odd_bits(text + at + 24);
	for (; len - at >= 8; at += 8)
		odd |= odd_bits(text + at);
	return odd | odd_bits(text + len - 8);
}

/* Line ends as in Python's str.splitlines, the largest known set: LF, VT, FF, CR, FS, GS, RS, NEL, and Unicode separators. */
static size_t line_end(const unsigned char *p, size_t left)
{
	if ((*p >= '\n' && *p <= '\r') || (*p >= 0x1c && *p <= 0x1e))
		return 1;
	if (*p == 0xc2 && left > 1 && p[1] == 0x85)
		return 2;
	return *p == 0xe2 && left > 2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9) ? 3 : 0;
}

/* The offset of the next line end; len if absent. */
static size_t find_line_end(const char *text, size_t at, size_t len)
{
	while (at < len && !line_end((const unsigned char *)text + at, len - at))
		at++;
	return at;
}

bool text_is_line(const char *text, size_t len)
{
	return !is_odd(text, len) || find_line_end(text, 0, len) == len;
}

void text_join_lines(char *text, size_t len)
{
	if (!is_odd(text, len))
		return;
	for (size_t at = 0; (at = find_line_end(text, at, len)) < len;)
		memset(text + at, '?', line_end((unsigned char *)text + at, len - at));
}

/* Newlines of the format are where two other bytes in their place make a difference. */
void str_vprintf_line(struct str *s, const char *format, va_list args)
{
	enum { MARK = 0x1e, OTHER = 0x1f };
	struct str marked[2] = { 0 };
	size_t start = s->len;
	for (int i = 0; i < 2; i++) {
		CLEANUP_FREE char *copy = memory_string(format);
		va_list again;
		for (char *c = copy; (c = strchr(c, '\n')); c++)
			*c = (char)(i ? OTHER : MARK);
		va_copy(again, args);
		str_vprintf(&marked[i], copy, again);
		va_end(again);
	}
	str_add(s, str_text(&marked[0]), marked[0].len);
	text_join_lines(s->text + start, s->len - start);
	for (size_t i = 0; i < marked[0].len; i++)
		if (marked[0].text[i] != marked[1].text[i])
			s->text[start + i] = '\n';
	str_fini(&marked[0]);
	str_fini(&marked[1]);
}

const char *text_one_line(struct arena *arena, const char *text, size_t len)
{
	char *line = arena_string(arena, text, len);
	text_join_lines(line, len);
	return line;
}

uint32_t strtab_add_line(struct strtab *tab, const char *text, size_t len)
{
	len = strnlen(text, len);
	if (text_is_line(text, len))
		return strtab_add(tab, text, len);
	CLEANUP_STR struct str line = { 0 };
	str_add(&line, text, len);
	text_join_lines(line.text, len);
	return strtab_add(tab, line.text, len);
}

size_t text_copy(char *copy, size_t size, const void *text, size_t room)
{
	size_t most = room < size ? room : size - 1, len = most ? strnlen(text, most) : 0;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return len;
}
