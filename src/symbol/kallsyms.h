/* The kernel's symbol list: lines "ADDRESS TYPE NAME[\t[MODULE]]", as in /proc/kallsyms (proc(5)) and copies of it. The list contains the
 * kernel and its modules; it is sorted, completed and then split. Knows no file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/table.h"

/* Longer names are truncated, as in perf. */
#define KALLSYMS_NAME_MAX 512u

/* Addresses of the functions that recordings use to locate the kernel, as from kallsyms_address; 0: absent. */
struct kallsyms_marks {
	uint64_t text, stext;        /* "_text", "_stext" */
};

struct kallsyms {
	char *text;                  /* owns the text of the names */
	struct symbol_table kernel;  /* at the addresses of the list */
	struct symbol *in_modules;   /* by address; their names end at the tab, followed by "\0[module]" */
	uint32_t in_modules_count;
	struct kallsyms_marks marks;
	bool hidden;                 /* all addresses are 0: the kernel hides them from this user */
};

/* Takes ownership of text (malloc'ed, len bytes and room for one more). */
void kallsyms_parse(struct kallsyms *k, char *text, size_t len);
void kallsyms_fini(struct kallsyms *k); /* accepts a zeroed list */

/* The address of the function of that name; 0: absent. Reads the unfiltered text of the list. */
uint64_t kallsyms_address(const char *text, size_t len, const char *name);
/* The same of a function or variable. */
uint64_t kallsyms_any_address(const char *text, size_t len, const char *name);

/* Stores the symbols of module ("[ext4]") at distances from start. Names are borrowed. */
void kallsyms_module(const struct kallsyms *k, const char *module, uint64_t start, struct symbol_table *table);
