/* Parameters of functions of a kernel without debug information, and what they return, by its own type information (BTF): at the function's
 * entry the kernel fetches parameters as $arg1, $arg2 … (Documentation/trace/kprobetrace.rst, Linux 4.20). Knows no event. */
#pragma once
#include "elf/btf_types.h"
#include "probe/spec.h"
#include "probe/variable.h"

/* Appends how the argument of a definition is recorded: one fetch, or one for each parameter ($params, $vars). prototype: of `function`.
 * Texts live in the arena. Fails with ERROR_USAGE, with the names that there are. */
struct probe_fetches {
	VEC(struct probe_fetch) list;
};
int probe_parameter_fetch(const struct btf_types *types, const struct btf_type *prototype, const char *function,
	const struct probe_argument *argument, struct arena *arena, struct probe_fetches *fetches, struct error *err);
/* The same for `$retval` and its members in a probe at the function's return. */
int probe_returned_fetch(const struct btf_types *types, const struct btf_type *prototype, const char *function,
	const struct probe_argument *argument, struct arena *arena, struct probe_fetches *fetches, struct error *err);
