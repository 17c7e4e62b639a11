/* The account of a profile's memory: what its end takes, from the sizes of the tables that the workers have. Upper estimates, except for
 * the trees of call chains, which are limited when they are made (chain_room). */
#pragma once
#include "analysis/entry/state.h"

/* As sink.ahead; context: the profile. Called between batches. */
size_t profile_ahead(void *context);
/* After the merge: sets the limit of chain_room. */
void room_for_chains(struct profile *profile);
