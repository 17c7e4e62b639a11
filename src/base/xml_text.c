#include "base/xml_text.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the letter at text (len > 0), and the letter; 1 and U+FFFD where the bytes are no UTF-8. */
static size_t letter_at(const unsigned char *text, size_t len, uint32_t *letter)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = text[0];
	size_t n = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : (first & 0xf8) == 0xf0 ? 4 : 0;
	*letter = 0xfffd;
	if (n == 0 || n > len)
		return 1;
	uint32_t value = n == 1 ? first : first & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (text[i] & 0x3fu);
	}
	if (value < least[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 1;
	*letter = value;
	return n;
}

static bool letter_allowed(uint32_t c)
{
	if (c < 0x20)
		return c == '\n';
	if (c >= 0x7f && c < 0xa0)
		return false;
	bool turns = c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
	return !turns && (c & 0xfffe) != 0xfffe && !(c >= 0xfdd0 && c <= 0xfdef);
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '<' && c != '>' && c != '&' && c != '"' && c != '\'';
}

void xml_text(struct writer *out, const char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		for (n = 0; i + n < len && is_plain((unsigned char)text[i + n]);)
			n++;
		if (n) {
			writer_add(out, text + i, n);
			continue;
		}
		uint32_t letter;
		n = letter_at((const unsigned char *)text + i, len - i, &letter);
		const char *as = letter == '<' ? "&lt;" : letter == '>' ? "&gt;" : letter == '&' ? "&amp;" : letter == '"' ? "&quot;"
			: letter == '\'' ? "&#39;" : letter == 0xfffd || !letter_allowed(letter) ? "\xef\xbf\xbd" : NULL;
		if (as)
			writer_puts(out, as);
		else
			writer_add(out, text + i, n);
	}
}

/* East Asian wide letters and pictures; approximate, as only the width of labels depends on it. */
static size_t letter_columns(uint32_t c)
{
	return (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xd7a4) || (c >= 0xf900 && c < 0xfb00) || (c >= 0xfe30 && c < 0xfe70)
		|| (c >= 0xff00 && c < 0xff61) || (c >= 0x1f300 && c < 0x1fb00) || (c >= 0x20000 && c < 0x40000) ? 2 : 1;
}

size_t text_columns_prefix(const char *text, size_t len, size_t columns)
{
	size_t used = 0;
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t letter;
		n = letter_at((const unsigned char *)text + i, len - i, &letter);
		used += letter_columns(letter);
		if (used > columns)
			return i;
	}
	return len;
}
