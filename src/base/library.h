/* Large, rarely used libraries that are loaded on first use: a table of name, symbols and Debian package. A loaded library stays loaded
 * until the program ends. Knows no library. */
#pragma once
#include "base/error.h"

struct library {
	const char *soname;           /* "libdebuginfod.so.1" */
	const char *package;          /* the Debian package, for the hint */
	const char *purpose;          /* the feature that needs the library, such as "debug files from a server" */
	const char *const *symbols;   /* NULL-terminated */
};

/* Fills functions[i] with the address of symbols[i]. functions is a struct of as many function pointers, in that order. Thread-safe. < 0:
 * the library or one of its symbols is absent; the hint names the package. */
int library_load(const struct library *library, void *functions, struct error *err);
