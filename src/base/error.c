#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* what a static analyser sees in their place */
#undef error_set
#undef error_system
#undef error_hint

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
	if (!err)
		return -1;
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
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
	int n = vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof err->text)
		snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", strerror(sys));
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
	vsnprintf(err->hint, sizeof err->hint, format, args);
	va_end(args);
	return -1;
}

void error_clear(struct error *err)
{
	*err = (struct error){ 0 };
}
