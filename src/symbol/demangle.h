/* Names as people wrote them: C++, Rust (both manglings), OCaml, Java descriptors. By libiberty for the first two, as
 * perf asks it: without parameters unless verbose. Knows no symbol table. */
#pragma once
#include <stdbool.h>

struct demangler {
	bool off;
	bool params; /* with parameters and qualifiers (perf -v) */
};

/* A malloc'ed text, or NULL where name is not mangled (or what it unfolds to is unreasonably long). */
char *name_demangle(const struct demangler *demangler, const char *name);
