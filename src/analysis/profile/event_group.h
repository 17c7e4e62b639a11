/* Event groups: the entries of a leader refer to the other members' entries with the same key. */
#pragma once
#include "analysis/entry/entry.h"

/* Returns whether the recording has event groups. */
bool event_groups_exist(const struct evlist *evlist);
/* Finds leaders and members of profile->folded.hists. */
void event_groups_link(const struct profile *profile, struct folded *folded);
/* Fills the pairs of the leaders' entries; if only another member has an entry, the leader gets a placeholder. */
void event_groups_match(const struct profile *profile, struct folded *folded);
