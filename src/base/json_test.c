#include "base/json.h"

#include <string.h>

#include "unit.h"

static char *shown(const char *text, size_t len)
{
	static char copy[256];
	struct writer out;
	writer_open(&out, -1, 64);
	json_text_of(&out, text, len);
	snprintf(copy, sizeof copy, "%.*s", (int)out.len, out.buffer);
	writer_fini(&out);
	return copy;
}

TEST("quotes, backslashes and control characters are escaped")
{
	EXPECT_STR(shown("a\"b\\c", 5), "\"a\\\"b\\\\c\"");
	EXPECT_STR(shown("\b\t\n\v\f\r\x1b\x7f", 8), "\"\\b\\t\\n\\u000b\\f\\r\\u001b\\u007f\"");
	EXPECT_STR(shown("a\0b", 3), "\"a\\u0000b\"");
	EXPECT_STR(shown("", 0), "\"\"");
}

TEST("valid UTF-8 is written unchanged, invalid bytes become the replacement character")
{
	EXPECT_STR(shown("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9), "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	EXPECT_STR(shown("x\xff y", 4), "\"x\\ufffd y\"");
	EXPECT_STR(shown("\xc0\x80", 2), "\"\\ufffd\\ufffd\"");         /* a NUL in two bytes */
	EXPECT_STR(shown("\xed\xa0\x80", 3), "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
	EXPECT_STR(shown("\xe2\x82", 2), "\"\\ufffd\\ufffd\"");         /* cut at the end */
	EXPECT_STR(shown("\xf4\x90\x80\x80", 4), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

TEST("numbers that JSON cannot represent are null")
{
	struct writer out;
	bool first = true;
	writer_open(&out, -1, 64);
	json_key(&out, "a", &first);
	json_real(&out, 0.1);
	json_key(&out, "b", &first);
	json_real(&out, 0.0 / 0.0);
	json_comma(&out, &first);
	json_text(&out, NULL);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "\"a\":0.10000000000000001,\"b\":null,null");
	writer_fini(&out);
}
