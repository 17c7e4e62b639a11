#include "analysis/runs/stat_lines.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 256 };

/* The line that is being read; the caller guarantees `at <= end`. */
struct cursor {
	const char *at, *end;
};

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
}

static bool take_char(struct cursor *c, char wanted)
{
	skip_blanks(c);
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

/* A string without its quotes, cut to the room; escaped letters other than quotes and backslashes become '?'. */
static bool take_string(struct cursor *c, char text[static TEXT_MAX])
{
	size_t len = 0;
	if (!take_char(c, '"'))
		return false;
	while (c->at < c->end && *c->at != '"') {
		char letter = *c->at++;
		if (letter == '\\') {
			if (c->at == c->end)
				return false;
			letter = *c->at == '"' || *c->at == '\\' || *c->at == '/' ? *c->at : '?';
			c->at++;
		}
		if (len + 1 < TEXT_MAX)
			text[len++] = letter;
	}
	text[len] = '\0';
	return take_char(c, '"');
}

/* A number, true, false or null, as text. */
static bool take_word(struct cursor *c, char text[static TEXT_MAX])
{
	size_t len = 0;
	skip_blanks(c);
	while (c->at < c->end && !strchr(",}] \t\"{[", *c->at)) {
		if (len + 1 < TEXT_MAX)
			text[len++] = *c->at;
		c->at++;
	}
	text[len] = '\0';
	return len;
}

struct stat_line {
	char event[TEXT_MAX], unit[TEXT_MAX], value[TEXT_MAX];
};

static bool take_object(struct cursor *c, struct stat_line *line)
{
	char key[TEXT_MAX], value[TEXT_MAX];
	if (!take_char(c, '{'))
		return false;
	do {
		if (!take_string(c, key) || !take_char(c, ':'))
			return false;
		skip_blanks(c);
		if (c->at == c->end || !(*c->at == '"' ? take_string(c, value) : take_word(c, value)))
			return false;
		char *target = strcmp(key, "event") == 0 ? line->event : strcmp(key, "unit") == 0 ? line->unit
			: strcmp(key, "counter-value") == 0 ? line->value : NULL;
		if (target)
			memcpy(target, value, TEXT_MAX);
	} while (take_char(c, ','));
	return take_char(c, '}') && *line->event && *line->value;
}

static void read_line(struct stat_lines *lines, struct cursor cursor, struct runs *runs, enum run_side side)
{
	struct stat_line line = { 0 };
	char *end;
	if (!take_object(&cursor, &line)) {
		lines->skipped++;
		return;
	}
	double value = strtod(line.value, &end);
	if (end == line.value || *end) {
		lines->uncounted++;
		return;
	}
	text_make_printable(line.event);
	text_make_printable(line.unit);
	runs_add(runs, side, line.event, line.unit, value);
	lines->values++;
}

void stat_lines_read(struct stat_lines *lines, const char *text, size_t len, struct runs *runs, enum run_side side)
{
	for (const char *at = text, *end = text + len; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
		if (stop > at)
			read_line(lines, (struct cursor){ at, stop }, runs, side);
		at = stop + 1;
	}
}
