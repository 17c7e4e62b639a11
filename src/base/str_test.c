#include "base/str.h"

#include "unit.h"

TEST("a character is added several times, or not at all")
{
	CLEANUP_STR struct str text = { 0 };
	str_pad(&text, '.', 0);
	EXPECT_STR(str_text(&text), "");
	str_puts(&text, "ab");
	str_pad(&text, '.', 3);
	str_pad(&text, ' ', 100);
	EXPECT_INT(text.len, 105);
	EXPECT_INT(strspn(text.text + 5, " "), 100);
	EXPECT_INT(memcmp(str_text(&text), "ab... ", 6), 0);
}

TEST("an empty text is the empty string, before and after it had content")
{
	struct str s = { 0 };
	EXPECT_STR(str_text(&s), "");
	str_puts(&s, "abc");
	str_clear(&s);
	EXPECT_STR(str_text(&s), "");
	str_fini(&s);
	EXPECT_STR(str_text(&s), "");
}

TEST("pieces, characters and formatted texts are appended")
{
	CLEANUP_STR struct str s = { 0 };
	str_puts(&s, "a");
	str_putc(&s, '-');
	str_printf(&s, "%d/%s", 42, "x");
	str_add(&s, "yz!", 2);
	EXPECT_STR(str_text(&s), "a-42/xyz");
	EXPECT_INT(s.len, 8);
}

TEST("a formatted text may exceed the reserved room")
{
	CLEANUP_STR struct str s = { 0 };
	for (int i = 0; i < 100; i++)
		str_printf(&s, "%0100d", i);
	EXPECT_INT(s.len, 10000);
	EXPECT_INT(strlen(s.text), 10000);
}

TEST("a formatted text of each length up to several reservations is complete")
{
	for (int before = 0; before < 130; before++) {
		for (int len = 0; len < 200; len++) {
			CLEANUP_STR struct str s = { 0 };
			str_printf(&s, "%*s", before, "");
			str_printf(&s, "%.*s", len, "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
				"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789");
			EXPECT_INT(s.len, before + len);
			EXPECT_INT(strlen(str_text(&s)), before + len);
			EXPECT(!len || str_text(&s)[before + len - 1] == '0' + (len - 1) % 10);
		}
	}
}

TEST("equal texts have one id, ids are consecutive, texts never move")
{
	struct strtab tab = { 0 };
	EXPECT_INT(strtab_find(&tab, "x", 1), UINT32_MAX);
	uint32_t first = strtab_add(&tab, "main", 4);
	const char *text = strtab_text(&tab, first);
	for (int i = 0; i < 5000; i++) {
		char name[32];
		int length = snprintf(name, sizeof name, "symbol_%d", i);
		EXPECT_INT(strtab_add(&tab, name, (size_t)length), i + 1);
	}
	EXPECT_INT(strtab_add(&tab, "main", 4), first);
	EXPECT(strtab_text(&tab, first) == text);
	EXPECT_INT(strtab_find(&tab, "symbol_4999", 11), 5000);
	EXPECT_INT(strtab_find(&tab, "symbol_5000", 11), UINT32_MAX);
	strtab_fini(&tab);
}

TEST("an interned text ends at an inner NUL and may be empty")
{
	struct strtab tab = { 0 };
	uint32_t id = strtab_add(&tab, "ab\0cd", 5);
	EXPECT_STR(strtab_text(&tab, id), "ab");
	EXPECT_INT(strtab_add(&tab, "ab", 2), id);
	EXPECT_STR(strtab_text(&tab, strtab_add(&tab, "", 0)), "");
	strtab_fini(&tab);
}

TEST("control characters do not reach a terminal")
{
	char text[] = "a\033[31mred\n\t\177b \xc2\x9b" "2J \xc3\xa9 \xc2\xa9";
	EXPECT(!text_is_printable(text, strlen(text)));
	text_make_printable(text);
	EXPECT_STR(text, "a?[31mred???b ??2J \xc3\xa9 \xc2\xa9");
	EXPECT(text_is_printable(text, strlen(text)));
}

TEST("8-bit control characters, those in UTF-8 and overlong sequences do not reach a terminal, and letters do")
{
	static const struct { const char *text, *shown; } rows[] = {
		{ "\x9b" "2J", "?2J" }, { "\xc2\x9b" "2J", "??2J" }, { "\xc0\x9b" "2J", "\xc0?2J" }, { "\xe0\x80\x9b", "\xe0??" },
		{ "\xe2\x80\xae" "cod.exe", "???cod.exe" }, { "\xe2\x81\xa6", "???" }, { "\xd8\x9c", "??" }, { "\xe2\x80\x8b", "\xe2\x80\x8b" },
		{ "\xf0\x9d\x84\x9e", "\xf0\x9d\x84\x9e" }, { "\xf0\x9d\x84", "\xf0??" }, { "\xed\xa0\x80", "\xed\xa0?" },
		{ "\xe4\x9b\x9b", "\xe4\x9b\x9b" }, { "\xfc", "\xfc" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[32];
		strcpy(text, rows[i].text);
		EXPECT_INT(text_is_printable(text, strlen(text)), !strcmp(rows[i].text, rows[i].shown));
		text_make_printable(text);
		EXPECT_STR(text, rows[i].shown);
	}
}

TEST("output in pieces loses no character at the boundaries")
{
	char text[] = "\xc3\xa9\n\t\033";
	EXPECT_INT(text_escape(text, 1, true), 0);
	EXPECT_INT(text_escape(text, 1, false), 1);
	EXPECT_INT(text_escape(text, 5, true), 5);
	EXPECT_STR(text, "\xc3\xa9\n\t?");
	char lines[] = "a\r\nb\rc\r";
	EXPECT_INT(text_escape(lines, 7, true), 6);
	EXPECT_STR(lines, "a\r\nb?c\r");
	EXPECT_INT(text_escape(lines, 7, false), 7);
	EXPECT_STR(lines, "a\r\nb?c?");
}

TEST("no byte that a reader takes for a line end remains in a name")
{
	struct strtab tab = { 0 };
	char text[] = "a\nb\r\vc\fd\x1c\x1d\x1e\x1f" "e\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xc2\xa9\t\033 a long text without any\n";
	EXPECT(!text_is_line(text, sizeof text - 1));
	EXPECT_STR(strtab_text(&tab, strtab_add_line(&tab, text, sizeof text - 1)),
		"a?b??c?d???\x1f" "e????????\xc2\xa9\t\033 a long text without any?");
	text_join_lines(text, 1);
	EXPECT(text[1] == '\n');
	text_join_lines(text, sizeof text - 1);
	EXPECT(text_is_line(text, sizeof text - 1));
	EXPECT(text_is_line("\xe2\x80", 2));
	strtab_fini(&tab);
}

TEST("a copy of untrusted text is truncated to its room and always terminated")
{
	char copy[8];
	memset(copy, 'x', sizeof copy);
	EXPECT_INT(text_copy(copy, sizeof copy, "abc", 4), 3);
	EXPECT_STR(copy, "abc");
	EXPECT_INT(text_copy(copy, sizeof copy, "abcdefghij", 10), 7);
	EXPECT_STR(copy, "abcdefg");
	EXPECT_INT(text_copy(copy, sizeof copy, "abcdefghij", 2), 2);
	EXPECT_STR(copy, "ab");
	EXPECT_INT(text_copy(copy, 1, "abc", 3), 0);
	EXPECT_INT(text_copy(copy, sizeof copy, NULL, 0), 0);
	EXPECT_STR(copy, "");
}
