#include "cmd/top/keys.h"

#include "unit.h"

static enum key_action type(struct keys *keys, const char *text, struct str *echo)
{
	enum key_action action = KEY_NONE;
	for (; *text; text++)
		action = keys_take(keys, *text, echo);
	return action;
}

TEST("a key is an action, and an unknown key shows the menu until the next key")
{
	CLEANUP_STR struct str echo = { 0 };
	struct keys keys = { .fd = -1 };
	EXPECT_INT(type(&keys, "K", &echo), KEY_HIDE_KERNEL);
	EXPECT_INT(type(&keys, "Q", &echo), KEY_QUIT);
	EXPECT(!keys_are_busy(&keys));
	EXPECT_INT(type(&keys, "x", &echo), KEY_MENU);
	EXPECT(keys_are_busy(&keys));
	EXPECT_INT(type(&keys, "z", &echo), KEY_ZERO);
	EXPECT(!keys_are_busy(&keys));
	type(&keys, "x", &echo);
	EXPECT_INT(type(&keys, "x", &echo), KEY_NONE);
	EXPECT(!keys_are_busy(&keys));
}

TEST("a question takes a line, which can be corrected")
{
	CLEANUP_STR struct str echo = { 0 };
	struct keys keys = { .fd = -1 };
	EXPECT_INT(type(&keys, "d17\1772", &echo), KEY_NONE);
	EXPECT(keys_are_busy(&keys));
	EXPECT_INT(type(&keys, "\n", &echo), KEY_DELAY);
	EXPECT_STR(keys.line, "12");
	EXPECT(strstr(str_text(&echo), "delay: 17\b \b2\n"));
	EXPECT_INT(type(&keys, "e\n", &echo), KEY_ENTRIES);
	EXPECT_STR(keys.line, "");
}

TEST("a line that is too long is cut, and is followed by its end")
{
	CLEANUP_STR struct str echo = { 0 };
	struct keys keys = { .fd = -1 };
	type(&keys, "s", &echo);
	for (int i = 0; i < 2 * KEYS_LINE_MAX; i++)
		type(&keys, "a", &echo);
	EXPECT_INT(type(&keys, "\r", &echo), KEY_SYMBOL);
	EXPECT_INT(strlen(keys.line), KEYS_LINE_MAX - 1);
}

TEST("escape sequences of keys are dropped as a whole")
{
	CLEANUP_STR struct str echo = { 0 };
	struct keys keys = { .fd = -1 };
	EXPECT_INT(type(&keys, "\033[1;5q", &echo), KEY_NONE);
	EXPECT(!keys_are_busy(&keys));
	EXPECT_INT(type(&keys, "\033OQ", &echo), KEY_NONE);
	EXPECT_INT(type(&keys, "Q", &echo), KEY_QUIT);
}
