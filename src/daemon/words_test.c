#include "daemon/words.h"

#include <stdlib.h>

#include "base/str.h"
#include "unit.h"

/* The words, each in brackets; "error" if the text is rejected. */
static const char *split(const char *text, char out[256])
{
	struct words words = { 0 };
	struct error err = { 0 };
	CLEANUP_STR struct str joined = { 0 };
	if (words_split(&words, text, &err) < 0)
		str_puts(&joined, "error");
	for (size_t i = 0; i < words.list.count && err.kind == ERROR_NONE; i++)
		str_printf(&joined, "[%s]", words.list.items[i]);
	words_fini(&words);
	snprintf(out, 256, "%s", str_text(&joined));
	return out;
}

TEST("a command line is split at blanks")
{
	char out[256];
	EXPECT_STR(split("", out), "");
	EXPECT_STR(split("  \t ", out), "");
	EXPECT_STR(split("-e cycles", out), "[-e][cycles]");
	EXPECT_STR(split("  -e\tcycles \n", out), "[-e][cycles]");
}

TEST("quotes and backslashes join words, and nothing is expanded")
{
	char out[256];
	EXPECT_STR(split("sh -c 'a  b; c'", out), "[sh][-c][a  b; c]");
	EXPECT_STR(split("\"a \\\"b\\\" \\\\ \\n\"", out), "[a \"b\" \\ \\n]");
	EXPECT_STR(split("'a\\'", out), "[a\\]");
	EXPECT_STR(split("a\\ b c\\", out), "[a b][c\\]");
	EXPECT_STR(split("--filter='x > 1'\"y\"", out), "[--filter=x > 1y]");
	EXPECT_STR(split("'' \"\"", out), "[][]");
	EXPECT_STR(split("$HOME `id` * ; | &", out), "[$HOME][`id`][*][;][|][&]");
}

TEST("a quote that is not closed is an error, and so are too many words")
{
	char out[256];
	EXPECT_STR(split("a 'b", out), "error");
	EXPECT_STR(split("a \"b\\\"", out), "error");
	char *many = malloc(2 * 513 + 1);
	memset(many, 'a', 2 * 513);
	for (int i = 0; i < 513; i++)
		many[2 * i + 1] = ' ';
	many[2 * 513] = '\0';
	EXPECT_STR(split(many, out), "error");
	struct words words = { 0 };
	many[2 * 512] = '\0';
	EXPECT_INT(words_split(&words, many, NULL), 0);
	EXPECT_INT(words.list.count, 512);
	words_fini(&words);
	free(many);
}
