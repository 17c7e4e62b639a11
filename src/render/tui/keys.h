/* Keys and clicks, independent of a terminal. A character is its code. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum browse_key {
	BROWSE_KEY_NONE = 0,
	BROWSE_KEY_BACKSPACE = 8, BROWSE_KEY_TAB = 9, BROWSE_KEY_ENTER = 13, BROWSE_KEY_ESCAPE = 27,
	BROWSE_KEY_INTERRUPT = 3, BROWSE_KEY_FIND = 6,
	BROWSE_KEY_UP = 0x110000, BROWSE_KEY_DOWN, BROWSE_KEY_LEFT, BROWSE_KEY_RIGHT, BROWSE_KEY_PAGE_UP, BROWSE_KEY_PAGE_DOWN,
	BROWSE_KEY_HOME, BROWSE_KEY_END, BROWSE_KEY_UNTAB, BROWSE_KEY_DELETE,
	BROWSE_KEY_CLICK, BROWSE_KEY_DOUBLE, BROWSE_KEY_RELEASE, BROWSE_KEY_WHEEL_UP, BROWSE_KEY_WHEEL_DOWN, /* with a position */
};

struct browse_event {
	uint32_t key;
	size_t line, column; /* of the mouse */
};
