/* The names of a target's functions, as `probe -F` shows them: demangled on all CPUs, filtered, in the order of their bytes; one name for
 * each symbol. Knows no output. */
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include "probe/pattern.h"
#include "probe/target.h"

struct probe_function {
	uint64_t bytes;               /* eight bytes of the name, the first one highest: sorting compares them */
	const char *name;
};

struct probe_functions {
	VEC(struct probe_function) list;
	struct arena arena;           /* owns the names */
	struct budget *budget;        /* of the target; NULL: no limit */
	size_t taken;                 /* bytes taken from it */
};

/* Adds the names that pass the filter; NULL: all. A target without symbols has none. Names for which the budget has no room are left out,
 * and the budget counts that. */
void probe_functions_find(struct probe_target *target, const struct probe_filter *filter, struct probe_functions *functions);
/* Parts of it: adds a copy of a name; sorts the names. */
const char *probe_functions_add(struct probe_functions *functions, const char *name, size_t len);
void probe_functions_sort(struct probe_functions *functions);
void probe_functions_fini(struct probe_functions *functions); /* accepts a zeroed one */
