/* From a definition to the places of a program where its probes belong: functions, inlined calls, source lines, patterns of source text.
 * Follows perf's choice among several places. Reads debug information; knows no arguments and no event. */
#pragma once
#include "probe/spec.h"
#include "probe/target.h"

#define PROBE_PLACES_MAX 128u

struct probe_place {
	struct dwarf_die unit, function, scope; /* scope: the function or inlined call whose variables are visible */
	uint64_t address;
};

struct probe_search {
	const char *source_prefix;    /* -s: the folder of sources; NULL */
	struct str *remarks;          /* lines for the user are appended; never NULL */
	uint32_t max;                 /* places */
	bool no_inlines;
};

struct probe_places {
	VEC(struct probe_place) list;
};

/* Appends the places, in the order of the units; none: success without places. Needs the target's debug information. */
int probe_places_find(struct probe_target *target, const struct probe_spec *spec, const struct probe_search *search,
	struct probe_places *places, struct error *err);
/* A name of functions, prepared for many comparisons. */
struct probe_name {
	const char *text;             /* borrowed */
	bool glob, qualified;
	bool plain;                   /* linkage names are not compared */
	bool whole;                   /* word is the complete DW_AT_name of each function of that name */
	char *word;                   /* the last component of a C++ name: each linkage name contains it; NULL: unknown */
};
struct probe_name probe_name_of(const char *text);
void probe_name_fini(struct probe_name *name);
/* Whether the function has that name: DW_AT_name, the linkage name, or the demangled one with or without parameters. */
bool probe_function_named(const struct dwarf_die *function, const struct probe_name *name);
/* The same for the name of a symbol: as it is, or demangled. */
bool probe_symbol_named(const char *symbol, const struct probe_name *name);
/* Returns the path of a source file that exists, malloc'ed, or NULL: below prefix, or below the folder of compilation. */
char *probe_source_path(const char *path, const char *directory, const char *prefix);
/* Returns DW_AT_comp_dir of a unit; NULL: absent. */
const char *probe_unit_directory(const struct dwarf_die *unit);
/* Returns the path of the unit's first source file with this end; NULL: absent. */
const char *probe_unit_file(const struct dwarf_die *unit, const char *end);
