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
