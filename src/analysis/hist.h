/* The entries of one event's report: rows with their sums, sorted, with widths and totals. Made from a profile's cells.
 * Knows how entries order, not how they are printed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/chains.h"
#include "analysis/columns.h"
#include "analysis/profile.h"

struct entry_sums {
	uint64_t period, period_sys, period_us, period_guest_sys, period_guest_us;
	uint64_t weight[3];
	uint32_t count;
};

void entry_sums_add(struct entry_sums *sums, const struct entry_sums *more);

struct entry {
	struct entry_sums self;
	uint64_t children_period;     /* with what it called */
	const uint64_t *row;          /* the columns' keys */
	const struct group_facts *facts;
	uint64_t first;               /* clock of the first sample */
	uint32_t first_rank;          /* of the entries that this sample made first */
	uint32_t index;               /* while its hist is sorted */
	uint32_t place;               /* of the first sample */
	uint32_t group, class;        /* what its key is made of */
	uint32_t thread;              /* likewise; THREAD_NONE: see tid */
	int32_t tid;
	uint32_t max_depth;           /* of its chains */
	uint8_t filtered, level, cpumode;
	bool placeholder;             /* a row of another member of the group */
	const struct entry **pairs;   /* by member of the event's group; NULL: none */
	struct chain_tree *chain;     /* NULL: none to show */
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
	struct rb_tree *tree;         /* likewise, where keys have no proper order: that of the entries */
	uint64_t total_period, shown_period;          /* all; those that no filter took */
	uint64_t samples, shown_samples;
	uint64_t chain_period, shown_chain_period;
	unsigned widths[WIDTH_COUNT];
	uint32_t leader;              /* event */
	struct hist **members;        /* of a group's leader, itself first; NULL: in no group */
	uint32_t member_count;
};

static inline const struct place *entry_place(const struct profile *profile, const struct entry *entry)
{
	return stacks_place_at(&profile->stacks, entry->place);
}

static inline const uint64_t *entry_key(const struct entry *entry, const struct column *column)
{
	return entry->row + column->at;
}

/* What percentages are of. */
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

/* Order of output. > 0: a first. */
int64_t entries_sort(const struct profile *profile, const struct hist *hist, const struct entry *a, const struct entry *b);
int64_t entries_compare_measure(const struct profile *profile, const struct hist *hist, enum measure measure, const struct entry *a,
	const struct entry *b);
/* Order of keys, total: > 0: a first. */
int64_t entries_compare(const struct profile *profile, const struct entry *a, const struct entry *b);

/* True where a column is not printed for this event. */
static inline bool column_skipped(const struct column *column, const struct hist *hist)
{
	return column->elided || (column->type->class == COLUMN_FIELD && column->event != hist->event);
}

/* Likewise as a level of a hierarchy. */
static inline bool column_skipped_in_level(const struct column *column, const struct hist *hist)
{
	return column->level_elided || (column->type->class == COLUMN_FIELD && column->event != hist->event);
}

/* First: puts entries in the order of their keys. hist_add then adds others behind. */
void hist_order(struct profile *profile, struct hist *hist);
void hist_add(const struct profile *profile, struct hist *hist, struct entry *entry);
/* Then: sorts for output, fills widths. */
void hist_sort(struct profile *profile, struct hist *hist);
/* Fills widths from the entries that no filter took. */
void hist_widths(const struct profile *profile, struct hist *hist);
/* In a report's line. */
unsigned column_width(const struct profile *profile, const struct hist *hist, const struct column *column);
