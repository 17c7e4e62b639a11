#include "cmd/format_option.h"

int format_set(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	const struct format *format = format_find(arg, err);
	if (!format)
		return -1;
	*(const struct format **)((char *)target + option->offset) = format;
	return 0;
}
