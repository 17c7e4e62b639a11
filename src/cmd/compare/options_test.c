#include "cmd/compare/options.h"

#include "unit.h"

/* The words, separated by '|'. */
static const char *split(const char *text, char buffer[static 256])
{
	struct command_words words = { 0 };
	struct arena arena = { 0 };
	struct error err = { 0 };
	buffer[0] = '\0';
	if (command_words_split(&words, text, &arena, &err) < 0)
		strcpy(buffer, "error");
	else
		for (size_t i = 0; words.list.items[i]; i++)
			strcat(strcat(buffer, i ? "|" : ""), words.list.items[i]);
	vec_fini(&words.list);
	arena_fini(&arena);
	return buffer;
}

TEST("a command is split at blanks; quotes and backslashes protect them, nothing else is special")
{
	char buffer[256];
	EXPECT_STR(split("  ./a  -n 5\tx ", buffer), "./a|-n|5|x");
	EXPECT_STR(split("a 'b  c' \"d e\" f\\ g", buffer), "a|b  c|d e|f g");
	EXPECT_STR(split("a '' \"\"b", buffer), "a||b");
	EXPECT_STR(split("a $HOME *.c > x; `b`", buffer), "a|$HOME|*.c|>|x;|`b`");
	EXPECT_STR(split("a '\\' \"\\\"\"", buffer), "a|\\|\"");
	EXPECT_STR(split("a 'b", buffer), "error");
	EXPECT_STR(split(" ", buffer), "error");
}
