/* Which checks the words of a command line name: by number, or by a part of the name without regard to case. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* number: from 1. Without words every check is selected. */
bool selection_has(int argc, const char **argv, size_t number, const char *name);
/* list: numbers between commas; NULL: empty. */
bool selection_skips(const char *list, size_t number);
/* Whether it consists of numbers and commas. */
bool selection_is_list(const char *list);
