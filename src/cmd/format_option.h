/* --format, of commands whose results are tables (analysis/table/table.h). */
#pragma once
#include "base/options.h"
#include "cmd/browse_table.h"

/* F: a const struct format *, NULL where the option was not given. */
#define OPT_FORMAT(S, F) \
	OPTION_ROW_AT(CALLBACK, 0, "format", OPTION_FIELD(S, F, const struct format *), \
		"how to print what was found; text: as perf. One of: ", .arg = "format", .words = format_option_words, .set = format_set, \
		.flags = OPTION_OWN | OPTION_NONEG)
/* Appends the names of all formats, separated by ", ". */
void format_option_words(struct str *to);
/* Whether --format=tui was given, of a command whose options are parsed. */
bool format_browses(const struct option *options, const void *filled);
int format_set(void *target, const struct option *option, const char *arg, bool unset, struct error *err);

/* Whether results are printed as tables instead of perf's text. */
static inline bool format_is_table(const struct format *format)
{
	return format && format->print;
}
