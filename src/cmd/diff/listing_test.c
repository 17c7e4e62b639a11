#include "cmd/diff/listing.h"

#include "unit.h"

static const char *const paths[] = { "a", "b" };

TEST("listings of equal code are one, with the percentages of each recording")
{
	static const char *const texts[] = { "Samples: 3\nf() /p\nPercent      0x10 <f>:\n               nop\n  40.00        ret\n\n",
		"Samples: 50\nf() /p\nPercent      0x10 <f>:\n   7.25        nop\n               ret\n\n" };
	CLEANUP_STR struct str out = { 0 };
	EXPECT(diff_listing_join(texts, paths, 2, &out));
	EXPECT_STR(str_text(&out), "a: Samples: 3\nb: Samples: 50\nf() /p\nPercent  Percent       0x10 <f>:\n"
		"            7.25         nop\n  40.00                  ret\n\n");
}

TEST("listings of other code, or of fewer lines, are not joined")
{
	static const char *const texts[][2] = { { "  1.00 nop\n", "  1.00 ret\n" }, { "nop\n", "nop\nret\n" }, { "nop\nret\n", "nop\n" },
		{ "", "nop\n" }, { "       1 nop\n", "1 nop\n" } };
	CLEANUP_STR struct str out = { 0 };
	str_puts(&out, "before");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		EXPECT(!diff_listing_join(texts[i], paths, 2, &out));
	EXPECT_STR(str_text(&out), "before");
}
