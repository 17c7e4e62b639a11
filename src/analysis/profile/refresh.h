/* A profile that is shown while samples arrive, again and again: between two samples its entries are made of what was collected so far,
 * and collecting continues. The session has one worker (live/live_session.h). Samples of the past lose weight with each refresh, as in
 * perf: 7/8 remain.
 *
 * Generations: after session_renew, profile_renew carries the rows that still have weight over to the new generation of the model; what
 * else was collected is freed. Knows no time and no terminal. */
#pragma once
#include "analysis/profile/profile.h"

/* Which of the collected samples are shown. */
struct profile_view {
	bool no_kernel, no_user;
};

/* Instead of profile_finish: makes the entries of the samples so far. They, and everything that was made for the entries of the call
 * before, are valid until the next call. */
void profile_show(struct profile *profile, const struct profile_view *view);
/* All sums become 7/8 of themselves; rows without weight are not shown from then on. */
void profile_decay(struct profile *profile);
/* All sums become zero. */
void profile_zero(struct profile *profile);

/* Bytes of what was collected, which profile_renew frees except for rows that have weight. */
size_t profile_growth(const struct profile *profile);
/* Marks the threads that rows with weight refer to: for model_renewal.held. held: by id, zeroed. */
void profile_hold(const struct profile *profile, bool *held);
/* Frees the symbols of modules that neither a row nor a process of the current generation has; after profile_renew. */
void profile_drop_symbols(struct profile *profile);
/* old: the previous generation of the session's model; threads: model_renewal.threads. The entries of the last profile_show are freed. */
void profile_renew(struct profile *profile, const struct model *old, const uint32_t *threads);
