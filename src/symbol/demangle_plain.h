/* Demangles the names of C++ that consist of scopes, templates, lambdas and plain types (Itanium C++ ABI, section 5.1): most names of a
 * program, faster than libiberty, and with the text that libiberty makes without parameters. Knows no other manglings. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Replaces the text of `out`. false: the name has something else (expressions, pointers to functions, parameters of templates, …), is
 * invalid, or its text is longer than `limit`; then `out` is undefined. */
bool demangle_plain(const char *mangled, size_t limit, struct str *out);
