/* A hist's entries as a tree: a level for each sort key, or for keys in common braces. Independent of formats. */
#pragma once
#include "analysis/entry/entry.h"

enum { HIERARCHY_LEVELS_MAX = 64 };

struct hierarchy_level {
	uint32_t columns[HIERARCHY_LEVELS_MAX];
	uint32_t count;
	bool skipped;              /* all its columns are elided */
};

struct hierarchy {
	struct hierarchy_level levels[HIERARCHY_LEVELS_MAX]; /* [0]: the measures */
	uint32_t count;
};

/* Returns the levels of this event's report. */
void hierarchy_levels(struct hierarchy *hierarchy, const struct profile *profile, const struct hist *hist);

/* Replaces hist->entries, which are sorted by keys, by the entries of the first level with their children, and computes their sums. */
void hierarchy_build(const struct profile *profile, struct hist *hist);
