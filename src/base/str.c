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

void str_vprintf(struct str *s, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	if (n > 0) {
		str_reserve(s, (size_t)n);
		vsnprintf(s->text + s->len, (size_t)n + 1, format, again);
		s->len += (size_t)n;
	}
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

static bool byte_is_control(const unsigned char *p, size_t left)
{
	return *p < 0x20 || *p == 0x7f || (*p == 0xc2 && left > 1 && p[1] >= 0x80 && p[1] < 0xa0);
}

bool text_is_printable(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (byte_is_control((const unsigned char *)text + i, len - i))
			return false;
	return true;
}

void text_make_printable(char *text)
{
	size_t len = strlen(text);
	for (size_t i = 0; i < len; i++) {
		if (!byte_is_control((unsigned char *)text + i, len - i))
			continue;
		if ((unsigned char)text[i] == 0xc2)
			text[i++] = '?';
		text[i] = '?';
	}
}
