#include "render/text/percent.h"

#include <stdio.h>

#include "unit.h"

static const char *text(struct str *out, const char *before, int width, double percent, bool colour)
{
	str_clear(out);
	percent_add(out, before, width, percent, colour);
	return str_text(out);
}

TEST("a percentage is padded to its width")
{
	struct str out = { 0 };
	EXPECT_STR(text(&out, "", 6, 1.005, false), "  1.00%");
	EXPECT_STR(text(&out, "--", 0, 12.345, false), "--12.35%");
	EXPECT_STR(text(&out, "", 6, 100, false), "100.00%");
	str_fini(&out);
}

TEST("percentages are rounded as printf rounds them")
{
	struct str out = { 0 };
	char expected[64];
	for (unsigned i = 0; i < 20000; i++) {
		double percent = i < 4000 ? i * 0.005 : 1e7 / (1 + (double)i * i * 0.37);
		int width = (int)(i % 9);
		snprintf(expected, sizeof expected, "x%*.2f%%", width, percent);
		EXPECT_STR(text(&out, "x", width, percent, false), expected);
	}
	EXPECT_STR(text(&out, "", 6, -1.25, false), " -1.25%");
	EXPECT_STR(text(&out, "", 6, -0.0, false), " -0.00%");
	str_fini(&out);
}

TEST("five percent is red, more than a half is green, less has no colour")
{
	struct str out = { 0 };
	EXPECT_STR(text(&out, "", 6, 5, true), "\033[31m  5.00%\033[m");
	EXPECT_STR(text(&out, "", 6, 4.999, true), "\033[32m  5.00%\033[m");
	EXPECT_STR(text(&out, "", 6, 0.5, true), "  0.50%");
	EXPECT_STR(text(&out, "", 6, 7, false), "  7.00%");
	str_fini(&out);
}
