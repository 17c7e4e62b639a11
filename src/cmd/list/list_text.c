#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/list/list.h"

enum { WIDTH = 80, MARGIN = 2 };

bool list_matches(const char *pattern, const char *text, int flags)
{
	return text && fnmatch(pattern, text, flags) == 0;
}

static size_t columns(void)
{
	const char *given = secure_getenv("COLUMNS");
	struct winsize size;
	if (given)
		return (size_t)strtoul(given, NULL, 10);
	return (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH) - MARGIN;
}

void list_print_wrapped(struct writer *out, const char *text)
{
	size_t width = columns();
	size_t column = LIST_INDENT;
	bool comma = false, newline = false;
	while (*text) {
		size_t length = strcspn(text, " ,\t\n");
		if ((column + length >= width && column > LIST_INDENT) || newline) {
			writer_puts(out, comma ? ",\n" : "\n");
			writer_pad(out, ' ', LIST_INDENT);
			column = LIST_INDENT;
		}
		if (column > LIST_INDENT) {
			writer_putc(out, comma ? ',' : ' ');
			column++;
		}
		writer_add(out, text, length);
		column += length;
		newline = text[length] == '\n';
		comma = text[length] == ',';
		text += length;
		text += strspn(text, " ,\t\n\v\f\r");
	}
}

void list_print_description(struct writer *out, const char *text, const char *unit)
{
	struct str full = { 0 };
	str_puts(&full, text);
	if (unit)
		str_printf(&full, "%s Unit: %s", full.len && full.text[full.len - 1] != '.' ? "." : "", unit);
	writer_pad(out, ' ', LIST_INDENT - 1);
	writer_putc(out, '[');
	list_print_wrapped(out, str_text(&full));
	writer_puts(out, "]\n");
	str_fini(&full);
}

/* perf's escapes, which leave other control characters. */
static void print_json_text(struct writer *out, const char *text)
{
	for (;;) {
		size_t plain = strcspn(text, "\n\r\\\"");
		writer_add(out, text, plain);
		text += plain;
		if (!*text)
			return;
		writer_putc(out, '\\');
		writer_putc(out, *text == '\n' ? 'n' : *text == '\r' ? 'r' : *text);
		text++;
	}
}

void list_print_object(struct listing *l, const struct list_member *members, size_t count)
{
	bool first = true;
	writer_puts(l->out, l->any ? ",\n{\n" : "{\n");
	l->any = true;
	for (size_t i = 0; i < count; i++) {
		if (!members[i].value)
			continue;
		writer_printf(l->out, "%s\t\"%s\": \"", first ? "" : ",\n", members[i].key);
		print_json_text(l->out, members[i].value);
		writer_putc(l->out, '"');
		first = false;
	}
	writer_puts(l->out, first ? "}" : "\n}");
}
