/* Source lines and the addresses at which they begin: rows of the line table, declarations of functions and calls of inlined functions,
 * with perf's choice among them. Knows no probe. */
#pragma once
#include "probe/target.h"

/* Compares the ends of two paths, as long as both are: "lib/a.c" equals "/src/lib/a.c". */
bool probe_same_tail(const char *a, const char *b);

/* Gets one line; returning true ends the walk. */
typedef bool (*probe_line_fn)(void *context, const char *file, uint32_t line, uint64_t address);
/* Visits the lines of a unit (its top DIE), or of a function or an inlined call without those of calls inlined in it. Only lines from
 * `first` to `last`. Returns whether the function ended the walk. */
bool probe_lines_walk(struct probe_target *target, const struct dwarf_die *root, uint32_t first, uint32_t last, probe_line_fn visit,
	void *context);
/* Returns the source line that address belongs to: of its function if it is the entry, otherwise of its statement. */
bool probe_line_at(struct probe_target *target, const struct dwarf_die *unit, uint64_t address, const char **file, uint32_t *line);
/* Visits the functions of a unit that are not only declared, in the order of the file. Returning true ends the walk. */
typedef bool (*probe_function_fn)(void *context, const struct dwarf_die *function);
bool probe_functions_walk(const struct dwarf_die *unit, probe_function_fn visit, void *context);

bool probe_is_definition(const struct dwarf_die *die); /* a function with code, or the abstract description of an inlined one */
bool probe_is_instance(const struct dwarf_die *die);   /* it has code */
/* The line of the function's declaration, or of its entry; 0: unknown. */
uint32_t probe_declared_line(struct probe_target *target, const struct dwarf_die *die);
/* Returns the first address after the function's prologue: of its second statement; marked: or of the one that the compiler has marked. */
uint64_t probe_after_prologue(struct probe_target *target, const struct dwarf_die *function, uint64_t entry, bool marked);
