/* Variables at a place of a program: which are visible, and how the kernel fetches their values (Documentation/trace/uprobetracer.rst:
 * registers, memory, immediate values). Knows no event. */
#pragma once
#include "probe/finder.h"

/* How one argument is recorded. */
struct probe_fetch {
	const char *name;             /* NULL: the kernel numbers it */
	const char *value;            /* "%di", "+8(%sp)"; NULL: the variable has no value here */
	const char *type;             /* "s32", "string"; NULL: the kernel's default */
};

/* Texts live in the arena. A variable without a value here has value NULL. Fails with ERROR_USAGE. */
int probe_variable_fetch(struct probe_target *target, const struct probe_place *place, const struct probe_argument *argument,
	struct arena *arena, struct probe_fetch *fetch, struct error *err);

/* Visits the parameters (and the variables) of the scope that have a value at the place, at least in members; with `absent` those without
 * one, too. The visit ends when the function returns true. */
typedef bool (*probe_variable_fn)(void *context, const struct dwarf_die *variable, bool valued);
void probe_variables_walk(struct probe_target *target, const struct probe_place *place, bool variables, bool absent,
	probe_variable_fn visit, void *context);

/* Whether the definition records a parameter that the function itself stores on its stack, at the place of its entry: it has its value only
 * after the prologue, although the debug information gives one location for the complete function. */
bool probe_parameter_is_stored(struct probe_target *target, const struct probe_place *place, const struct probe_spec *spec);
