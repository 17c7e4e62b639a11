/* Options that several commands with a profile on the screen have. Each function parses one argument (NULL: without one) and reports
 * what it refuses with ERROR_USAGE. */
#pragma once
#include <stdbool.h>

#include "base/error.h"

enum colour_option { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* --stdio-color: auto, always or never; without an argument always, undone never. */
int colour_option_parse(const char *arg, bool unset, enum colour_option *colour, struct error *err);
/* --percentage: relative or absolute. */
int percentage_option_parse(const char *arg, bool *relative, struct error *err);
/* --ignore-callees: an extended regular expression. */
int callees_option_check(const char *arg, struct error *err);
