/* The keys of `top --stdio`: bytes from the terminal become actions, some of them with a line that the user types. Knows no profile. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/str.h"

enum key_action {
	KEY_NONE, KEY_MENU, KEY_QUIT, KEY_HIDE_KERNEL, KEY_HIDE_USER, KEY_ZERO, KEY_STOP,
	/* with a line: */
	KEY_DELAY, KEY_ENTRIES, KEY_EVENT, KEY_COUNT, KEY_PERCENT, KEY_SYMBOL,
};

enum { KEYS_LINE_MAX = 128 };

struct keys {
	int fd;
	bool terminal, changed;     /* changed: keys_prepare has changed the terminal's mode */
	struct termios before;
	bool menu;                  /* the menu is shown: the next key chooses from it, any other key leaves it */
	enum key_action asking;     /* a line for this action is being typed; KEY_NONE: no line */
	char line[KEYS_LINE_MAX];
	size_t len;
	unsigned escape;            /* position within an escape sequence, which is dropped; 0: outside */
};

void keys_open(struct keys *keys, int fd);
/* Makes the terminal pass single keys, if this process is in its foreground. Call it again after each stop. */
void keys_prepare(struct keys *keys);
void keys_close(struct keys *keys);
/* The user is at the menu or types a line: the screen must not be redrawn. */
static inline bool keys_are_busy(const struct keys *keys)
{
	return keys->menu || keys->asking;
}

/* Takes a byte; echo: the text to show for it. Returns the action that it completes. For one with a line, keys->line holds it until the
 * next byte. */
enum key_action keys_take(struct keys *keys, char c, struct str *echo);
