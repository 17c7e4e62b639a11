#include "base/xml_text.h"

#include <stdlib.h>

#include "unit.h"

static const char *escaped(const char *text, size_t len)
{
	static char kept[256];
	struct writer out;
	writer_open(&out, -1, 0);
	xml_text(&out, text, len);
	snprintf(kept, sizeof kept, "%.*s", (int)out.len, out.buffer ? out.buffer : "");
	writer_fini(&out);
	return kept;
}

#define ESCAPED(text) escaped(text, sizeof(text) - 1)
#define BAD "\xef\xbf\xbd"

TEST("markup in foreign text becomes entities")
{
	EXPECT_STR(ESCAPED("a<b>&\"'c"), "a&lt;b&gt;&amp;&quot;&#39;c");
	EXPECT_STR(ESCAPED("</title><script>alert(1)</script>"), "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
	EXPECT_STR(ESCAPED("]]>"), "]]&gt;");
	EXPECT_STR(ESCAPED(""), "");
}

TEST("letters outside ASCII are unchanged, bytes that are no letter are replaced")
{
	EXPECT_STR(ESCAPED("gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x94\xa5"), "gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x94\xa5");
	EXPECT_STR(ESCAPED("a\x01\x1b[2J\x7f"), "a" BAD BAD "[2J" BAD);
	EXPECT_STR(ESCAPED("one\ntwo"), "one\ntwo");
	EXPECT_STR(ESCAPED("\xff\xc3"), BAD BAD);          /* no such byte; cut */
	EXPECT_STR(ESCAPED("\xc0\xbc"), BAD BAD);          /* '<' in two bytes */
	EXPECT_STR(ESCAPED("\xed\xa0\x80"), BAD BAD BAD);  /* a surrogate */
	EXPECT_STR(ESCAPED("\xef\xbf\xbf"), BAD);          /* U+FFFF */
	EXPECT_STR(ESCAPED("\xf4\x90\x80\x80"), BAD BAD BAD BAD); /* beyond U+10FFFF */
	EXPECT_STR(ESCAPED("\xc2\x9b"), BAD);              /* a control of C1 */
}

TEST("the first and the last letter of each length are unchanged, their neighbours are no letters")
{
	static const char *const letters[] = { "\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xb7\x8f",
		"\xef\xb7\xb0", "\xef\xbf\xbd", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbd", "\xe2\x80\x8d", "\xe2\x80\x90", "\xe2\x80\xa9", "\xe2\x80\xaf",
		"\xe2\x81\xa5", "\xe2\x81\xaa", "~", " " };
	static const char *const replaced[] = { "\xc2\x80", "\xc2\x9f", "\xef\xb7\x90", "\xef\xb7\xaf", "\xf4\x8f\xbf\xbe", "\xf0\x9f\xbf\xbf",
		"\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9", "\x7f", "\x1f", "\t" };
	static const char *const none[] = { "\x80", "\xbf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf8\x88\x80\x80",
		"\xe2\x80", "\xf0\x90\x80" };
	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
		EXPECT_STR(escaped(letters[i], strlen(letters[i])), letters[i]);
	for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
		EXPECT_STR(escaped(replaced[i], strlen(replaced[i])), BAD);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		char want[16] = "";
		for (size_t k = 0; k < strlen(none[i]); k++)
			strcat(want, BAD);
		EXPECT_STR(escaped(none[i], strlen(none[i])), want);
	}
}

TEST("marks that turn the direction of writing around are replaced")
{
	EXPECT_STR(ESCAPED("a\xe2\x80\xae" "b"), "a" BAD "b");
	EXPECT_STR(ESCAPED("\xe2\x81\xa6"), BAD);
}

TEST("a NUL inside a text is replaced too")
{
	EXPECT_STR(ESCAPED("a\0b"), "a" BAD "b");
}

TEST("columns count letters, wide ones twice")
{
	EXPECT_INT(text_columns_prefix("abcdef", 6, 3), 3);
	EXPECT_INT(text_columns_prefix("abc", 3, 3), 3);
	EXPECT_INT(text_columns_prefix("\xc3\xbc\xc3\xbc\xc3\xbc", 6, 2), 4);
	EXPECT_INT(text_columns_prefix("\xe4\xb8\xad\xe6\x96\x87", 6, 3), 3);
	EXPECT_INT(text_columns_prefix("abc", 3, 0), 0);
}
