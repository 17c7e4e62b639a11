/* Events that were counted together, shown side by side: the leader's entries carry the other members' of the same key. */
#pragma once
#include "analysis/entry/entry.h"

/* The recording has events that were counted together. */
bool event_groups_exist(const struct evlist *evlist);
/* Finds leaders and members of profile->folded.hists. */
void event_groups_link(const struct profile *profile, struct folded *folded);
/* Gives the leaders' entries their pairs; where only a member has an entry, the leader gets a placeholder. */
void event_groups_match(const struct profile *profile, struct folded *folded);
