/* The kernel's own symbol list: lines "ADDRESS TYPE NAME[\t[MODULE]]", as /proc/kallsyms and copies of it hold them.
 * Kernel and modules come in one list; it is sorted, completed and then split. Knows no file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/table.h"

/* Longer names are cut, as perf does. */
#define KALLSYMS_NAME_MAX 512u

/* Where functions are that recordings tell the kernel's place by; 0: there is none. As kallsyms_address has them. */
struct kallsyms_marks {
	uint64_t text, stext;        /* "_text", "_stext" */
};

struct kallsyms {
	char *text;                  /* owns what the names point into */
	struct symbol_table kernel;  /* at the addresses of the list */
	struct symbol *in_modules;   /* by address; their names end at the tab, where "\0[module]" follows */
	uint32_t in_modules_count;
	struct kallsyms_marks marks;
	bool hidden;                 /* all addresses are 0: the kernel does not show them to this user */
};

/* Takes text over (malloc'ed, len bytes and room for one more). */
void kallsyms_parse(struct kallsyms *k, char *text, size_t len);
void kallsyms_fini(struct kallsyms *k); /* a zeroed one is fine */

/* The address of a function of that name; 0: none. Asks the text as the list has it, before anything was dropped. */
uint64_t kallsyms_address(const char *text, size_t len, const char *name);

/* What belongs to module ("[ext4]"), at distances from start. Names borrow. */
void kallsyms_module(const struct kallsyms *k, const char *module, uint64_t start, struct symbol_table *table);
