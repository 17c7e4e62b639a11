/* Libraries that are heavy and rarely needed, loaded at first use: a table of name, symbols and the Debian package that has
 * them. What is loaded stays until the program ends. Knows no library. */
#pragma once
#include "base/error.h"

struct library {
	const char *soname;           /* "libdebuginfod.so.1" */
	const char *package;          /* of Debian, for the hint */
	const char *purpose;          /* "debug files from a server": what does not work without it */
	const char *const *symbols;   /* NULL-terminated */
};

/* Fills functions[i] with the address of symbols[i]. functions is a struct of as many function pointers, in that order.
 * From any thread. < 0: the library or one of its symbols is absent, with the package as the hint. */
int library_load(const struct library *library, void *functions, struct error *err);
