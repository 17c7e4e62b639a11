/* Samples of a running measurement by address, which lose weight with time: what `top` annotates. Unlike those of a hit_sink, the counts
 * outlive generations of the model, as they hold ids of modules, which are permanent. One thread. */
#pragma once
#include "analysis/annotate/hits.h"

struct live_hits;

struct live_hits *live_hits_new(const struct hit_options *options); /* what the options refer to is borrowed */
void live_hits_free(struct live_hits *live); /* NULL is allowed */
void live_hits_add(struct live_hits *live, const struct resolved *r);
/* Before the session begins a new generation. */
void live_hits_settle(struct live_hits *live);
/* Every count becomes 7/8 of itself, as the rows of `top`; those that become 0 are forgotten. */
void live_hits_decay(struct live_hits *live);
void live_hits_clear(struct live_hits *live);
/* The counts of one symbol, and the sums of all by event. */
void live_hits_of(struct live_hits *live, const struct session *session, struct symbols *symbols, uint32_t module, uint32_t symbol,
	struct hits *hits);
