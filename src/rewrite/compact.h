/* Which records of a recording its samples need: the first of two readings of `inject --compact`. Dropped are mappings that no address of a
 * sample lies in, and what is recorded of threads without samples, unless threads with samples descend from them. All other records remain,
 * and a sample finds the same thread, name and mappings. Knows no output.
 *
 * Memory: a bit for each record and mapping; what is known of threads that live or ended recently, of their ancestors and mappings; a few
 * words for each module; records that wait for their order in time. */
#pragma once
#include "base/vec.h"
#include "data/source.h"

struct budget;

struct compact_plan {
	VEC(uint64_t) dropped;       /* a bit per record of the source, in the order of source_next; the bits behind the end are 0 */
	uint64_t records, drops;
};

struct compact_options {
	struct budget *budget;       /* for what is known; NULL: no limit; borrowed */
	bool remembers;              /* threads that ended long ago are not forgotten */
};

/* Reads a source to its end, or to the damage that ends it, as a session would. < 0: *err is why no plan can be made; 1: a record names a
 * thread that was forgotten, and another reading must remember all of them. */
int compact_plan_make(struct compact_plan *plan, struct source *source, const struct compact_options *options, struct error *err);
void compact_plan_fini(struct compact_plan *plan);

static inline bool compact_plan_drops(const struct compact_plan *plan, uint64_t record)
{
	return record / 64 < plan->dropped.count && plan->dropped.items[record / 64] >> record % 64 & 1;
}
