#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* declarations for static analysers replace these as macros */
#undef error_set
#undef error_system
#undef error_hint

/* A name from outside must not make a line of its own. Most texts have one line, and are done at once. Returns the length. */
__attribute__((format(printf, 3, 0)))
static size_t format_text(char *text, size_t size, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	vsnprintf(text, size, format, args);
	size_t len = strlen(text);
	if (!text_is_line(text, len)) {
		CLEANUP_STR struct str line = { 0 };
		str_vprintf_line(&line, format, again);
		snprintf(text, size, "%s", str_text(&line));
		len = strlen(text);
	}
	va_end(again);
	return len;
}

/* "%s" alone is for a text that was put together before, with its lines. */
__attribute__((format(printf, 3, 0)))
static void format_message(char *text, size_t size, const char *format, va_list args)
{
	if (strcmp(format, "%s") == 0)
		vsnprintf(text, size, format, args);
	else
		format_text(text, size, format, args);
}

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
	if (!err)
		return -1;
	va_list args;
	va_start(args, format);
	format_message(err->text, sizeof err->text, format, args);
	va_end(args);
	err->kind = kind;
	err->sys = 0;
	err->hint[0] = '\0';
	return -1;
}

int error_system(struct error *err, const char *format, ...)
{
	int sys = errno;
	if (!err)
		return -1;
	va_list args;
	va_start(args, format);
	size_t n = format_text(err->text, sizeof err->text, format, args);
	va_end(args);
	if (n < sizeof err->text)
		snprintf(err->text + n, sizeof err->text - n, ": %s", strerror(sys));
	err->kind = sys == EACCES || sys == EPERM ? ERROR_PERMISSION : ERROR_SYSTEM;
	err->sys = sys;
	err->hint[0] = '\0';
	return -1;
}

int error_hint(struct error *err, const char *format, ...)
{
	if (!err)
		return -1;
	va_list args;
	va_start(args, format);
	format_message(err->hint, sizeof err->hint, format, args);
	va_end(args);
	return -1;
}

void error_clear(struct error *err)
{
	*err = (struct error){ 0 };
}
