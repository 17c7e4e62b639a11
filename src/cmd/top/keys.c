#include "cmd/top/keys.h"

#include <unistd.h>

static const struct {
	char key;
	enum key_action action;
	const char *question;   /* NULL: without a line */
} bindings[] = {
	{ 'd', KEY_DELAY, "Enter display delay" },
	{ 'e', KEY_ENTRIES, "Enter display entries (lines)" },
	{ 'E', KEY_EVENT, "Enter number of the event" },
	{ 'f', KEY_COUNT, "Enter display event count filter" },
	{ 'F', KEY_PERCENT, "Enter least share of a row (percent)" },
	{ 's', KEY_SYMBOL, "Enter symbol" },
	{ 'S', KEY_STOP, NULL },
	{ 'K', KEY_HIDE_KERNEL, NULL },
	{ 'U', KEY_HIDE_USER, NULL },
	{ 'z', KEY_ZERO, NULL },
	{ 'q', KEY_QUIT, NULL },
	{ 'Q', KEY_QUIT, NULL },
};

void keys_open(struct keys *keys, int fd)
{
	*keys = (struct keys){ .fd = fd };
	keys->terminal = isatty(fd) && tcgetattr(fd, &keys->before) == 0;
}

void keys_prepare(struct keys *keys)
{
	if (!keys->terminal || tcgetpgrp(keys->fd) != getpgrp())
		return;
	struct termios mode = keys->before;
	mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	mode.c_cc[VMIN] = 0;
	mode.c_cc[VTIME] = 0;
	keys->changed |= tcsetattr(keys->fd, TCSANOW, &mode) == 0;
}

void keys_close(struct keys *keys)
{
	if (keys->changed && tcgetpgrp(keys->fd) == getpgrp())
		tcsetattr(keys->fd, TCSANOW, &keys->before);
	keys->changed = false;
}

static enum key_action take_line(struct keys *keys, char c, struct str *echo)
{
	enum { BACKSPACE = 8, DELETE = 127, FIRST_PRINTABLE = 32 };
	if (c == '\n' || c == '\r') {
		enum key_action action = keys->asking;
		keys->line[keys->len] = '\0';
		keys->asking = KEY_NONE;
		str_putc(echo, '\n');
		return action;
	}
	if ((c == BACKSPACE || c == DELETE) && keys->len) {
		keys->len--;
		str_puts(echo, "\b \b");
	} else if ((unsigned char)c >= FIRST_PRINTABLE && c != DELETE && keys->len + 1 < sizeof keys->line) {
		keys->line[keys->len++] = c;
		str_putc(echo, (unsigned char)c < DELETE ? c : '?');
	}
	return KEY_NONE;
}

static enum key_action take_key(struct keys *keys, char c, struct str *echo)
{
	bool was_menu = keys->menu;
	keys->menu = false;
	for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++) {
		if (bindings[i].key != c)
			continue;
		if (!bindings[i].question)
			return bindings[i].action;
		keys->asking = bindings[i].action;
		keys->len = 0;
		str_printf(echo, "\n%s: ", bindings[i].question);
		return KEY_NONE;
	}
	keys->menu = !was_menu;
	return keys->menu ? KEY_MENU : KEY_NONE;
}

/* Keys such as the arrows send ESC, a bracket or O, parameters, and a letter. */
static bool is_in_escape(struct keys *keys, char c)
{
	enum { ESC = 27, START = 1, INSIDE = 2 };
	if (c == ESC) {
		keys->escape = START;
		return true;
	}
	if (keys->escape == START) {
		keys->escape = c == '[' || c == 'O' ? INSIDE : 0;
		return keys->escape;
	}
	if (keys->escape == INSIDE) {
		if (c >= '@' && c <= '~')
			keys->escape = 0;
		return true;
	}
	return false;
}

enum key_action keys_take(struct keys *keys, char c, struct str *echo)
{
	if (is_in_escape(keys, c))
		return KEY_NONE;
	return keys->asking ? take_line(keys, c, echo) : take_key(keys, c, echo);
}
