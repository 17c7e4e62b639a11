#include "cmd/view_option.h"

#include <regex.h>
#include <string.h>

int colour_option_parse(const char *arg, bool unset, enum colour_option *colour, struct error *err)
{
	static const char *const words[] = { [COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never" };
	const char *word = unset ? "never" : arg ? arg : "always";
	for (enum colour_option i = COLOUR_AUTO; i <= COLOUR_NEVER; i++)
		if (strcmp(word, words[i]) == 0) {
			*colour = i;
			return 0;
		}
	return error_set(err, ERROR_USAGE, "--stdio-color takes always, never or auto, not '%s'", word);
}

int percentage_option_parse(const char *arg, bool *relative, struct error *err)
{
	bool wanted = strcmp(arg, "relative") == 0;
	if (!wanted && strcmp(arg, "absolute") != 0)
		return error_set(err, ERROR_USAGE, "Invalid percentage: %s", arg);
	*relative = wanted;
	return 0;
}

int callees_option_check(const char *arg, struct error *err)
{
	regex_t regex;
	if (regcomp(&regex, arg, REG_EXTENDED) != 0)
		return error_set(err, ERROR_USAGE, "Invalid --ignore-callees regex: %s", arg);
	regfree(&regex);
	return 0;
}
