#include "base/str.h"

#include "unit.h"

TEST("an empty text is the empty string, before and after it held something")
{
	struct str s = { 0 };
	EXPECT_STR(str_text(&s), "");
	str_puts(&s, "abc");
	str_clear(&s);
	EXPECT_STR(str_text(&s), "");
	str_fini(&s);
	EXPECT_STR(str_text(&s), "");
}

TEST("pieces, characters and formats add up")
{
	CLEANUP_STR struct str s = { 0 };
	str_puts(&s, "a");
	str_putc(&s, '-');
	str_printf(&s, "%d/%s", 42, "x");
	str_add(&s, "yz!", 2);
	EXPECT_STR(str_text(&s), "a-42/xyz");
	EXPECT_INT(s.len, 8);
}

TEST("a formatted text may be longer than what was reserved")
{
	CLEANUP_STR struct str s = { 0 };
	for (int i = 0; i < 100; i++)
		str_printf(&s, "%0100d", i);
	EXPECT_INT(s.len, 10000);
	EXPECT_INT(strlen(s.text), 10000);
}

TEST("equal texts have one id, ids are dense, texts stay")
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

TEST("an interned text stops at an inner NUL and may be empty")
{
	struct strtab tab = { 0 };
	uint32_t id = strtab_add(&tab, "ab\0cd", 5);
	EXPECT_STR(strtab_text(&tab, id), "ab");
	EXPECT_INT(strtab_add(&tab, "ab", 2), id);
	EXPECT_STR(strtab_text(&tab, strtab_add(&tab, "", 0)), "");
	strtab_fini(&tab);
}

TEST("control characters cannot reach a terminal")
{
	char text[] = "a\033[31mred\n\t\177b \xc2\x9b" "2J \xc3\xa9 \xc2\xa9";
	EXPECT(!text_is_printable(text, strlen(text)));
	text_make_printable(text);
	EXPECT_STR(text, "a?[31mred???b ??2J \xc3\xa9 \xc2\xa9");
	EXPECT(text_is_printable(text, strlen(text)));
}
