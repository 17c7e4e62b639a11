#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The length of the UTF-8 character at text (RFC 3629: shortest form, no surrogates, up to U+10FFFF); 0 if invalid. */
static size_t character(const unsigned char *text, size_t len)
{
	static const struct { unsigned char low, high, next_low, next_high, size; } forms[] = {
		{ 0x00, 0x7f, 0, 0, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (text[0] < forms[i].low || text[0] > forms[i].high)
			continue;
		if (forms[i].size > len || (forms[i].size > 1 && (text[1] < forms[i].next_low || text[1] > forms[i].next_high)))
			return 0;
		for (size_t at = 2; at < forms[i].size; at++)
			if ((text[at] & 0xc0) != 0x80)
				return 0;
		return forms[i].size;
	}
	return 0;
}

static void escape(struct writer *out, unsigned char c)
{
	static const char letters[] = "btn\0fr"; /* for characters 8 to 13 */
	if (c == '"' || c == '\\')
		writer_printf(out, "\\%c", c);
	else if (c >= 8 && c <= 13 && letters[c - 8])
		writer_printf(out, "\\%c", letters[c - 8]);
	else
		writer_printf(out, "\\u%04x", c);
}

void json_text_of(struct writer *out, const char *text, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)text;
	writer_putc(out, '"');
	for (size_t at = 0, run; at < len; at += run) {
		for (run = 0; at + run < len; run++)
			if (bytes[at + run] < 0x20 || bytes[at + run] >= 0x7f || bytes[at + run] == '"' || bytes[at + run] == '\\')
				break;
		writer_add(out, text + at, run);
		if (run)
			continue;
		size_t size = character(bytes + at, len - at);
		run = size ? size : 1;
		if (!size)
			writer_puts(out, "\\ufffd");
		else if (size > 1)
			writer_add(out, text + at, size);
		else
			escape(out, bytes[at]);
	}
	writer_putc(out, '"');
}

void json_text(struct writer *out, const char *text)
{
	if (text)
		json_text_of(out, text, strlen(text));
	else
		writer_puts(out, "null");
}

void json_real(struct writer *out, double value)
{
	if (isfinite(value))
		writer_printf(out, "%.17g", value);
	else
		writer_puts(out, "null");
}

void json_comma(struct writer *out, bool *first)
{
	if (!*first)
		writer_putc(out, ',');
	*first = false;
}

void json_key(struct writer *out, const char *name, bool *first)
{
	json_comma(out, first);
	json_text(out, name);
	writer_putc(out, ':');
}
