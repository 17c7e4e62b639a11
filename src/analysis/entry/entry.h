/* The entries of one event's report: rows with their sums and the keys of their columns. Types and sums; knows not how entries order. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/entry/column.h"
#include "analysis/entry/state.h"
#include "analysis/stack/chain_tree.h"

struct entry_sums {
	uint64_t period, period_sys, period_us, period_guest_sys, period_guest_us;
	uint64_t weight[3];
	uint32_t count;
};

void entry_sums_add(struct entry_sums *sums, const struct entry_sums *more);

struct entry {
	/* What most comparisons need is in one cache line. */
	uint64_t children_period;     /* with what it called */
	const uint64_t *row;          /* the columns' keys */
	uint32_t index;               /* while its hist is sorted */
	uint32_t thread;              /* of the first sample; THREAD_NONE: see tid */
	int32_t tid;
	uint32_t max_depth;           /* of its chains */
	struct entry_sums self;
	const struct sample_facts *facts;
	uint64_t first;               /* clock of the first sample */
	uint32_t first_rank;          /* of the entries that this sample made first */
	uint32_t place;               /* of the first sample */
	uint32_t sample_key, class;   /* its key: of the sample, of the place */
	uint8_t filtered, level, cpumode;
	bool placeholder;             /* for a row of another member of the event group */
	const struct entry **pairs;   /* by member of the event group; NULL: no other member has this key */
	struct chain_tree *chain;     /* NULL: nothing to show */
	/* In a hierarchy: */
	struct entry *parent;
	struct entry **children;
	uint32_t child_count;
	uint16_t depth, level_index;
	bool leaf;
};

struct entry_order;
struct rb_tree;

struct hist {
	uint32_t event;
	struct entry **entries;       /* in order of output */
	size_t count, capacity;
	struct entry_order *order;    /* while it is sorted */
	struct rb_tree *tree;         /* of the entries, if keys have no total order; otherwise NULL */
	uint64_t total_period, shown_period;          /* of all samples; of those that pass all filters */
	uint64_t samples, shown_samples;
	uint64_t chain_period, shown_chain_period;
	unsigned widths[ID_MAX];
	uint32_t leader;              /* event */
	struct hist **members;        /* of an event group's leader, itself first; NULL: in no event group */
	uint32_t member_count;
};

static inline const struct place *entry_place(const struct profile *profile, const struct entry *entry)
{
	return stacks_place_at(profile->collected.stacks, entry->place);
}

/* A reader of entries in order of output, which is no order of addresses, calls it for each: fetches what it reads of later ones. */
static inline void entries_fetch_ahead(const struct profile *profile, struct entry *const *entries, size_t at, size_t count)
{
	enum { ENTRY_AHEAD = 16, PARTS_AHEAD = 8, LINE = 64 };
	for (size_t line = 0; at + ENTRY_AHEAD < count && line < sizeof **entries; line += LINE)
		__builtin_prefetch((const char *)entries[at + ENTRY_AHEAD] + line);
	if (at + PARTS_AHEAD >= count)
		return;
	__builtin_prefetch(entries[at + PARTS_AHEAD]->row);
	__builtin_prefetch(entry_place(profile, entries[at + PARTS_AHEAD]));
}

static inline const uint64_t *entry_key(const struct entry *entry, const struct column *column)
{
	return entry->row + column->at;
}

static inline bool entries_same_thread(const struct entry *a, const struct entry *b)
{
	return a->thread == b->thread && (a->thread != THREAD_NONE || a->tid == b->tid);
}

/* The whole of which percentages are parts. */
uint64_t hist_total(const struct profile *profile, const struct hist *hist);
/* The percentage that --percent-limit looks at. */
float hist_percent(const struct profile *profile, const struct hist *hist, const struct entry *entry);

static inline uint64_t entry_measure(const struct entry *entry, enum measure measure)
{
	switch (measure) {
	case MEASURE_OVERHEAD:
	case MEASURE_PERIOD:
		return entry->self.period;
	case MEASURE_OVERHEAD_SYS:
		return entry->self.period_sys;
	case MEASURE_OVERHEAD_US:
		return entry->self.period_us;
	case MEASURE_OVERHEAD_GUEST_SYS:
		return entry->self.period_guest_sys;
	case MEASURE_OVERHEAD_GUEST_US:
		return entry->self.period_guest_us;
	case MEASURE_CHILDREN:
		return entry->children_period;
	case MEASURE_SAMPLES:
		return entry->self.count;
	case MEASURE_WEIGHT1:
	case MEASURE_WEIGHT2:
	case MEASURE_WEIGHT3:
		return entry->self.weight[measure - MEASURE_WEIGHT1];
	default:
		return 0;
	}
}

/* Whether the event has a separate report: the members of an event group are part of their leader's. */
static inline bool hist_is_reported(const struct profile *profile, const struct hist *hist)
{
	if (profile->options.event_group && hist->leader != hist->event)
		return false;
	return !profile->options.skip_empty || hist->samples;
}

/* True where a column is not printed for this event. */
static inline bool column_skipped(const struct column *column, const struct hist *hist)
{
	return column->elided || (column->type->class == COLUMN_FIELD && column->event != hist->event);
}

/* The same for a level of a hierarchy. */
static inline bool column_skipped_in_level(const struct column *column, const struct hist *hist)
{
	return column->level_elided || (column->type->class == COLUMN_FIELD && column->event != hist->event);
}
