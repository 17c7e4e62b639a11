/* A terminal as TERM=vt100 describes it, for what ncurses writes: ECMA-48 sequences that move the cursor, erase, reverse and scroll. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

enum { TERMINAL_LINES = 18, TERMINAL_COLUMNS = 84, TERMINAL_NUMBERS = 8 };

struct terminal_cell {
	char text;
	bool reverse;
};

struct test_terminal {
	struct terminal_cell cells[TERMINAL_LINES][TERMINAL_COLUMNS];
	unsigned line, column;
	unsigned top, bottom; /* the lines that scroll, with both */
	bool reverse;
	enum { PLAIN, ESCAPE, SEQUENCE, SKIP_ONE } state;
	unsigned numbers[TERMINAL_NUMBERS], count;
};

static inline void terminal_erase(struct test_terminal *t, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		t->cells[i / TERMINAL_COLUMNS][i % TERMINAL_COLUMNS] = (struct terminal_cell){ ' ', false };
}

static inline void terminal_reset(struct test_terminal *t)
{
	memset(t, 0, sizeof *t);
	t->bottom = TERMINAL_LINES - 1;
	terminal_erase(t, 0, TERMINAL_LINES * TERMINAL_COLUMNS);
}

static inline unsigned terminal_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static inline void terminal_up(struct test_terminal *t)
{
	if (t->line != t->top) {
		t->line -= t->line > 0;
		return;
	}
	memmove(t->cells[t->top + 1], t->cells[t->top], (t->bottom - t->top) * sizeof *t->cells);
	terminal_erase(t, t->top * TERMINAL_COLUMNS, (t->top + 1) * TERMINAL_COLUMNS);
}

static inline void terminal_down(struct test_terminal *t)
{
	if (t->line != t->bottom) {
		t->line = terminal_least(t->line + 1, TERMINAL_LINES - 1);
		return;
	}
	memmove(t->cells[t->top], t->cells[t->top + 1], (t->bottom - t->top) * sizeof *t->cells);
	terminal_erase(t, t->bottom * TERMINAL_COLUMNS, (t->bottom + 1) * TERMINAL_COLUMNS);
}

/* The last character of a sequence says what it does with its numbers. */
static inline void terminal_obey(struct test_terminal *t, char last)
{
	unsigned first = t->numbers[0], by = first ? first : 1, second = t->numbers[1] ? t->numbers[1] : 1;
	unsigned start = t->line * TERMINAL_COLUMNS, at = start + terminal_least(t->column, TERMINAL_COLUMNS - 1);
	switch (last) {
	case 'A':
		t->line -= terminal_least(by, t->line);
		break;
	case 'B':
		t->line = terminal_least(t->line + by, TERMINAL_LINES - 1);
		break;
	case 'C':
		t->column = terminal_least(t->column + by, TERMINAL_COLUMNS - 1);
		break;
	case 'D':
		t->column -= terminal_least(by, t->column);
		break;
	case 'H':
		t->line = terminal_least(by, TERMINAL_LINES) - 1;
		t->column = terminal_least(second, TERMINAL_COLUMNS) - 1;
		break;
	case 'J':
		terminal_erase(t, first ? 0 : at, TERMINAL_LINES * TERMINAL_COLUMNS);
		break;
	case 'K':
		terminal_erase(t, first ? start : at, first == 1 ? at + 1 : start + TERMINAL_COLUMNS);
		break;
	case 'm':
		for (unsigned i = 0; i < t->count; i++)
			t->reverse = t->numbers[i] == 7 || (t->reverse && t->numbers[i] != 0);
		break;
	case 'r':
		t->top = terminal_least(by, TERMINAL_LINES) - 1;
		t->bottom = terminal_least(t->numbers[1] ? t->numbers[1] : TERMINAL_LINES, TERMINAL_LINES) - 1;
		t->bottom = t->bottom < t->top ? t->top : t->bottom;
		t->line = t->column = 0;
		break;
	default: /* modes */
		break;
	}
}

static inline void terminal_sequence(struct test_terminal *t, char c)
{
	if (c >= '0' && c <= '9') {
		t->numbers[t->count - 1] = t->numbers[t->count - 1] * 10 + (unsigned)(c - '0');
	} else if (c == ';' && t->count < TERMINAL_NUMBERS) {
		t->count++;
	} else if (c >= '@') {
		terminal_obey(t, c);
		t->state = PLAIN;
	}
}

static inline void terminal_put(struct test_terminal *t, char c)
{
	if (t->column == TERMINAL_COLUMNS) {
		t->column = 0;
		t->line = terminal_least(t->line + 1, TERMINAL_LINES - 1);
	}
	t->cells[t->line][t->column++] = (struct terminal_cell){ c, t->reverse };
}

static inline void terminal_take(struct test_terminal *t, char c)
{
	if (t->state == SEQUENCE) {
		terminal_sequence(t, c);
	} else if (t->state == SKIP_ONE) {
		t->state = PLAIN;
	} else if (t->state == ESCAPE) {
		t->state = c == '[' ? SEQUENCE : c == '(' || c == ')' ? SKIP_ONE : PLAIN;
		memset(t->numbers, 0, sizeof t->numbers);
		t->count = 1;
		if (c == 'M')
			terminal_up(t);
	} else if (c == '\033') {
		t->state = ESCAPE;
	} else if (c == '\r') {
		t->column = 0;
	} else if (c == '\n') {
		terminal_down(t);
	} else if (c == '\b') {
		t->column -= t->column > 0;
	} else if (c == '\t') {
		t->column = terminal_least((t->column / 8 + 1) * 8, TERMINAL_COLUMNS - 1);
	} else if ((unsigned char)c >= ' ') {
		terminal_put(t, c);
	}
}

/* Its lines up to the last with a text; '>' begins one whose first cell is reversed, else ' '. */
static inline void terminal_text(const struct test_terminal *t, struct str *to)
{
	size_t end = 0;
	str_clear(to);
	for (unsigned line = 0; line < TERMINAL_LINES; line++) {
		size_t last = 0;
		char text[TERMINAL_COLUMNS + 1];
		for (unsigned i = 0; i < TERMINAL_COLUMNS; i++) {
			text[i] = t->cells[line][i].text;
			last = text[i] != ' ' ? i + 1 : last;
		}
		text[last] = '\0';
		str_printf(to, "%s%s\n", t->cells[line][0].reverse ? ">" : last ? " " : "", text);
		end = last ? to->len : end;
	}
	to->len = end;
	if (to->text)
		to->text[end] = '\0';
}
