/* The cgroups of --for-each-cgroup: a list of names, or of patterns that the names of all cgroups are compared with. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct cgroup_names {
	VEC(const char *) list; /* without duplicates; in the arena */
};

/* "a,b": these; an empty name is the root. If the text has one of {}[]()|*+?^$, its parts are basic regular expressions. */
int cgroup_names_find(struct cgroup_names *names, struct arena *arena, const char *text, struct error *err);
