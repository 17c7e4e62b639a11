/* Demangles names: C++, Rust (both manglings), D, OCaml, Java descriptors. Uses libiberty for the first three with perf's flags: without
 * parameters unless verbose. Knows no symbol table. */
#pragma once
#include <stdbool.h>

#include "base/str.h"

struct demangler {
	bool off;
	bool params; /* with parameters and qualifiers (perf -v) */
};

/* Replaces template and generic arguments: "a::b<..>::c<..>". In place; unbalanced brackets are unchanged. */
void name_shorten(char *name);

/* Returns a malloc'ed text, or NULL if name is not mangled or its expansion is too long. */
char *name_demangle(const struct demangler *demangler, const char *name);
/* The same for many names: the text replaces that of `to`, whose memory is reused; false: then `to` is undefined. */
bool name_demangle_into(const struct demangler *demangler, const char *name, struct str *to);
