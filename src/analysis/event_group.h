/* Events that were counted together, shown side by side: the leader's entries carry the other members' of the same key. */
#pragma once
#include "analysis/hist.h"

/* The recording has events that were counted together. */
bool event_groups_exist(const struct evlist *evlist);
/* Finds leaders and members of profile->hists. */
void event_groups_link(struct profile *profile);
/* Gives the leaders' entries their pairs; where only a member has an entry, the leader gets a placeholder. */
void event_groups_match(struct profile *profile);
