#include "render/tui/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"

void screen_fini(struct screen *screen)
{
	free(screen->cells);
	screen->cells = NULL;
	screen->lines = screen->columns = 0;
}

void screen_clear(struct screen *screen)
{
	for (size_t i = 0; i < screen->lines * screen->columns; i++)
		screen->cells[i] = (struct screen_cell){ .text = " ", .width = 1 };
}

void screen_resize(struct screen *screen, size_t lines, size_t columns)
{
	screen->lines = lines < 1 ? 1 : lines > SCREEN_LINES_MAX ? SCREEN_LINES_MAX : lines;
	screen->columns = columns < 1 ? 1 : columns > SCREEN_COLUMNS_MAX ? SCREEN_COLUMNS_MAX : columns;
	screen->cells = memory_resize(screen->cells, screen->lines * screen->columns, sizeof *screen->cells);
	screen_clear(screen);
}

/* One character: its bytes, its code, the columns it takes. Invalid bytes, and what a terminal interprets, are one '?'. */
struct character {
	const char *text;
	size_t bytes;
	int width;
};

static bool is_harmful(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb);
}

/* The length of the UTF-8 sequence at text, 0: invalid. */
static size_t decode(const char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *at = (const uint8_t *)text;
	size_t bytes = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
	*code = bytes > 1 ? at[0] & (0x7fu >> bytes) : at[0];
	for (size_t i = 1; i < bytes; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (at[i] & 0x3f);
	}
	return bytes && *code >= least[bytes] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff) ? bytes : 0;
}

static struct character next_character(const char *text)
{
	uint32_t code;
	size_t bytes = decode(text, &code);
	int width = bytes && !is_harmful(code) ? wcwidth((wchar_t)code) : -1;
	if (width < 0)
		return (struct character){ "?", bytes ? bytes : 1, 1 };
	return (struct character){ text, bytes, width };
}

size_t text_columns(const char *text)
{
	size_t columns = 0;
	while (*text) {
		struct character c = next_character(text);
		columns += (size_t)c.width;
		text += c.bytes;
	}
	return columns;
}

size_t text_fit(const char *text, size_t columns)
{
	size_t bytes = 0;
	while (text[bytes]) {
		struct character c = next_character(text + bytes);
		if ((size_t)c.width > columns)
			break;
		columns -= (size_t)c.width;
		bytes += c.bytes;
	}
	return bytes;
}

/* Adds a combining character to the cell before; what does not fit is left out. */
static void combine(struct screen *screen, size_t line, size_t column, const struct character *c)
{
	struct screen_cell *row = &screen->cells[line * screen->columns];
	if (!column || c->text[0] == '?')
		return;
	column -= column > 1 && !row[column - 1].text[0] ? 2 : 1;
	size_t len = strlen(row[column].text);
	if (len + c->bytes < SCREEN_CELL_BYTES)
		memcpy(row[column].text + len, c->text, c->bytes), row[column].text[len + c->bytes] = '\0';
}

/* Half of a wide character whose other half is overwritten becomes a blank. */
static void break_wide(struct screen_cell *row, size_t columns, size_t column)
{
	if (!row[column].text[0] && column)
		row[column - 1] = (struct screen_cell){ .text = " ", .width = 1, .style = row[column - 1].style };
	if (row[column].width == 2 && column + 1 < columns)
		row[column + 1] = (struct screen_cell){ .text = " ", .width = 1, .style = row[column + 1].style };
}

static void set_cell(struct screen *screen, size_t line, size_t column, uint8_t style, const struct character *c)
{
	struct screen_cell *row = &screen->cells[line * screen->columns];
	size_t bytes = c->text[0] == '?' ? 1 : c->bytes;
	break_wide(row, screen->columns, column);
	row[column] = (struct screen_cell){ .style = style, .width = (uint8_t)c->width };
	memcpy(row[column].text, c->text, bytes);
	if (c->width == 2) {
		break_wide(row, screen->columns, column + 1);
		row[column + 1] = (struct screen_cell){ .style = style };
	}
}

size_t screen_put(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style, const char *text)
{
	if (line >= screen->lines)
		return column;
	end = end < screen->columns ? end : screen->columns;
	while (*text) {
		struct character c = next_character(text);
		text += c.bytes;
		if (c.width == 0) {
			if (column <= end)
				combine(screen, line, column, &c);
			continue;
		}
		if (column + (size_t)c.width > end)
			break;
		set_cell(screen, line, column, style, &c);
		column += (size_t)c.width;
	}
	return column;
}

size_t screen_put_name(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style, const char *name)
{
	enum { ROOM_MIN = 12 }; /* less shows nothing of an end */
	size_t width = text_columns(name), room = end < screen->columns ? end : screen->columns;
	room = room > column ? room - column : 0;
	if (width <= room || room < ROOM_MIN)
		return screen_put(screen, line, column, end, style, name);
	size_t tail = (room - 1) / 2, head = text_fit(name, room - 1 - tail), skip = width - tail;
	CLEANUP_STR struct str start = { 0 };
	str_add(&start, name, head);
	column = screen_put(screen, line, column, end, style, str_text(&start));
	column = screen_put(screen, line, column, end, style, screen->ascii ? "~" : "\xe2\x80\xa6");
	const char *rest = name + text_fit(name, skip);
	if (text_columns(rest) > tail) /* the cut is within a wide character */
		rest += next_character(rest).bytes;
	return screen_put(screen, line, column, end, style, rest);
}

size_t screen_printf(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style, const char *format, ...)
{
	CLEANUP_STR struct str text = { 0 };
	va_list args;
	va_start(args, format);
	str_vprintf(&text, format, args);
	va_end(args);
	return screen_put(screen, line, column, end, style, str_text(&text));
}

void screen_fill(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style)
{
	static const struct character blank = { " ", 1, 1 };
	end = end < screen->columns ? end : screen->columns;
	for (; line < screen->lines && column < end; column++)
		set_cell(screen, line, column, style, &blank);
}

void screen_restyle(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style)
{
	end = end < screen->columns ? end : screen->columns;
	for (; line < screen->lines && column < end; column++)
		screen->cells[line * screen->columns + column].style = style;
}

void screen_line_text(const struct screen *screen, size_t line, struct str *out)
{
	size_t start = out->len, end = out->len;
	for (size_t i = 0; i < screen->columns; i++) {
		const char *text = screen->cells[line * screen->columns + i].text;
		str_puts(out, text);
		if (*text && strcmp(text, " ") != 0)
			end = out->len;
	}
	if (out->text)
		out->text[out->len = end > start ? end : start] = '\0';
}
