/* Names as people wrote them: C++, Rust (both manglings), D, OCaml, Java descriptors. By libiberty for the first three, as
 * perf asks it: without parameters unless verbose. Knows no symbol table. */
#pragma once
#include <stdbool.h>

struct demangler {
	bool off;
	bool params; /* with parameters and qualifiers (perf -v) */
};

/* Cuts template and generic arguments: "a::b<..>::c<..>". In place; what does not balance stays whole. */
void name_shorten(char *name);

/* A malloc'ed text, or NULL where name is not mangled (or what it unfolds to is unreasonably long). */
char *name_demangle(const struct demangler *demangler, const char *name);
