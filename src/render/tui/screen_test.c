#include "render/tui/screen.h"

#include <locale.h>

#include "unit.h"

static const char *line_of(const struct screen *screen, size_t line)
{
	static struct str text;
	str_clear(&text);
	screen_line_text(screen, line, &text);
	return str_text(&text);
}

static struct screen open_screen(size_t lines, size_t columns)
{
	struct screen screen = { 0 };
	setlocale(LC_CTYPE, "C.UTF-8");
	screen_resize(&screen, lines, columns);
	return screen;
}

TEST("text is cut at its end column and at the screen's edge, and nothing is written outside")
{
	struct screen screen = open_screen(2, 6);
	EXPECT_INT(screen_put(&screen, 0, 1, 4, STYLE_PLAIN, "abcdef"), 4);
	EXPECT_STR(line_of(&screen, 0), " abc");
	EXPECT_INT(screen_put(&screen, 1, 4, 100, STYLE_PLAIN, "xyz"), 6);
	EXPECT_STR(line_of(&screen, 1), "    xy");
	EXPECT_INT(screen_put(&screen, 2, 0, 6, STYLE_PLAIN, "no"), 0);
	screen_put(&screen, 0, 9, 12, STYLE_PLAIN, "no");
	EXPECT_STR(line_of(&screen, 0), " abc");
	screen_fini(&screen);
}

TEST("a name that does not fit is cut in its middle, and where few columns are free at its end")
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		unit_skip("the C library here has no UTF-8; native builds run it");
		return;
	}
	struct screen screen = open_screen(1, 20);
	EXPECT_INT(screen_put_name(&screen, 0, 1, 14, STYLE_PLAIN, "vector::push_back"), 14);
	EXPECT_STR(line_of(&screen, 0), " vector\xe2\x80\xa6h_back");
	screen_clear(&screen);
	EXPECT_INT(screen_put_name(&screen, 0, 1, 13, STYLE_PLAIN, "vector::push_back"), 13);
	EXPECT_STR(line_of(&screen, 0), " vector\xe2\x80\xa6_back");
	screen_clear(&screen);
	EXPECT_INT(screen_put_name(&screen, 0, 1, 12, STYLE_PLAIN, "vector::push_back"), 12);
	EXPECT_STR(line_of(&screen, 0), " vector::pus");
	screen_clear(&screen);
	EXPECT_INT(screen_put_name(&screen, 0, 0, 100, STYLE_PLAIN, "vector::emplace_back"), 20);
	EXPECT_STR(line_of(&screen, 0), "vector::emplace_back");
	screen.ascii = true;
	screen_clear(&screen);
	screen_put_name(&screen, 0, 1, 100, STYLE_PLAIN, "vector::emplace_back");
	EXPECT_STR(line_of(&screen, 0), " vector::e~lace_back");
	screen_fini(&screen);
}

TEST("a wide character takes two columns, and none of it is shown where one is free")
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		unit_skip("the C library here has no UTF-8; native builds run it");
		return;
	}
	struct screen screen = open_screen(1, 5);
	EXPECT_INT(screen_put(&screen, 0, 0, 5, STYLE_PLAIN, "\xe6\xbc\xa2\xe5\xad\x97z"), 5);
	EXPECT_STR(line_of(&screen, 0), "\xe6\xbc\xa2\xe5\xad\x97z");
	EXPECT_INT(screen_put(&screen, 0, 0, 3, STYLE_PLAIN, "\xe6\xbc\xa2\xe5\xad\x97"), 2);
	EXPECT_INT(text_columns("\xe6\xbc\xa2" "a"), 3);
	EXPECT_INT(text_fit("\xe6\xbc\xa2" "a", 2), 3);
	EXPECT_INT(text_fit("\xe6\xbc\xa2" "a", 1), 0);
	screen_fini(&screen);
}

TEST("what overwrites one half of a wide character leaves a blank for the other")
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		unit_skip("the C library here has no UTF-8; native builds run it");
		return;
	}
	struct screen screen = open_screen(1, 4);
	screen_put(&screen, 0, 0, 4, STYLE_PLAIN, "\xe6\xbc\xa2\xe5\xad\x97");
	screen_put(&screen, 0, 1, 2, STYLE_PLAIN, "x");
	EXPECT_STR(line_of(&screen, 0), " x\xe5\xad\x97");
	screen_put(&screen, 0, 2, 3, STYLE_PLAIN, "y");
	EXPECT_STR(line_of(&screen, 0), " xy");
	screen_fini(&screen);
}

TEST("a combining character belongs to the one before; what does not fit is left out")
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		unit_skip("the C library here has no UTF-8; native builds run it");
		return;
	}
	struct screen screen = open_screen(1, 4);
	EXPECT_INT(screen_put(&screen, 0, 0, 4, STYLE_PLAIN, "e\xcc\x81x"), 2);
	EXPECT_STR(line_of(&screen, 0), "e\xcc\x81x");
	char many[2 * 50 + 2] = "e";
	for (int i = 0; i < 50; i++)
		strcat(many, "\xcc\x81");
	screen_put(&screen, 0, 0, 4, STYLE_PLAIN, many);
	EXPECT(strlen(screen.cells[0].text) < SCREEN_CELL_BYTES);
	screen_put(&screen, 0, 0, 4, STYLE_PLAIN, "\xcc\x81");
	screen_fini(&screen);
}

TEST("controls, invalid bytes and writing directions become question marks")
{
	struct screen screen = open_screen(1, 20);
	screen_put(&screen, 0, 0, 20, STYLE_PLAIN, "a\x1b[31m\tb\xff\xc3(\xe2\x80\xae\xc2\x9b.");
	EXPECT_STR(line_of(&screen, 0), "a?[31m?b?\?(?\?.");
	screen_fini(&screen);
}

TEST("sizes of a screen are limited")
{
	struct screen screen = open_screen(0, 100000);
	EXPECT_INT(screen.lines, 1);
	EXPECT_INT(screen.columns, SCREEN_COLUMNS_MAX);
	screen_fini(&screen);
}
