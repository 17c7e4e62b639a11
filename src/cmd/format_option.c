#include "cmd/format_option.h"

#include <string.h>

#include "render/tui/terminal.h"

void format_option_words(struct str *to)
{
	format_words(to);
	str_printf(to, ", %s", format_tui.name);
}

bool format_browses(const struct option *options, const void *filled)
{
	for (; options->kind != OPTION_END; options++)
		if (options->set == format_set)
			return *(const struct format *const *)((const char *)filled + options->offset) == &format_tui;
	return false;
}

int format_set(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	bool browses = strcmp(arg, format_tui.name) == 0;
	if (browses && !terminal_usable(err))
		return -1;
	const struct format *format = browses ? &format_tui : format_find(arg, err);
	if (!format)
		return -1;
	*(const struct format **)((char *)target + option->offset) = format;
	return 0;
}
