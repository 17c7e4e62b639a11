/* Several profiles of the same columns, compared row by row: rows of different recordings belong together if their names are equal, so that
 * code may have moved between two builds. The first profile is the baseline. Independent of formats. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/compare/diff_names.h"
#include "analysis/entry/entry.h"
#include "base/arena.h"

enum diff_compute { DIFF_DELTA, DIFF_DELTA_ABS, DIFF_RATIO, DIFF_WEIGHTED, DIFF_CYCLES };

struct diff_options {
	enum diff_compute compute;
	int64_t old_weight, new_weight; /* DIFF_WEIGHTED */
	unsigned order;                 /* the file whose values order rows first; 0: no file does */
	bool baseline_only;
	const struct column *blocks;    /* a sample column by which entries of one row are distinguished, and which no key has; NULL: absent */
};

/* The entries of one profile with one name. */
struct diff_item {
	const struct entry *entry;      /* the first of them */
	uint64_t period, samples;
	uint32_t name;                  /* equal for items of one row */
	uint32_t file;
};

/* One value in one of the entries that an item sums up. */
struct diff_part {
	uint32_t item;                  /* index in its side */
	const struct entry *entry;
};

/* The items of one file for one event. */
struct diff_side {
	const struct profile *profile;
	const struct hist *hist;        /* NULL: the file has no such event */
	struct diff_item *items;
	uint32_t count;
	uint64_t total;                 /* of which deltas are shares */
	struct diff_part *parts;        /* with options.blocks: by entry */
	size_t part_count;
};

struct diff_value {
	double change;                  /* delta in percentage points, or the ratio */
	int64_t weighted;
};

/* A block of a row's code, and how its average cycles changed. */
struct diff_block {
	const char *range;              /* "[main.c:3 -> main.c:9]" */
	int64_t change;                 /* 0: the baseline has no such block */
	uint64_t spread[8];             /* by how much the cycles of the first runs differ from the baseline's, run by run */
	unsigned spread_count;
};

struct diff_blocks {
	struct diff_block *items;       /* of the baseline: NULL */
	size_t count;
};

struct diff_row {
	const struct diff_item *shown;  /* the item whose cells the row shows: that of the baseline or of the first file that has the row */
	const struct diff_item **items; /* by file; NULL: not there */
	struct diff_value *values;      /* by file, where items has one; [0] is not used */
	struct diff_blocks *blocks;     /* DIFF_CYCLES: by file; the caller of diff_init sets them */
	const char **texts;             /* by sort column: what the row is ordered by; NULL: absent, or a number */
};

/* One event of the baseline. */
struct diff_event {
	uint32_t event;                 /* in the baseline */
	struct diff_side *sides;        /* by file */
	struct diff_row *rows;          /* in order of output; those of filtered entries included */
	size_t row_count;
	uint64_t base_total;            /* of which baseline shares are parts: the rows that are left */
	struct hist widths;             /* of the sort columns of all rows that are shown */
};

struct diff {
	struct diff_options options;
	const struct profile *const *profiles;
	uint32_t file_count;
	struct diff_event *events;
	size_t event_count;
	struct diff_names names;
	struct arena arena;
};

/* Profiles are finished, and borrowed as long as *diff is used; they have one struct columns. */
void diff_init(struct diff *diff, const struct profile *const *profiles, uint32_t file_count, const struct diff_options *options);
void diff_fini(struct diff *diff); /* accepts a zeroed struct */

/* A row without entries in the baseline. */
static inline bool diff_row_is_new(const struct diff_row *row)
{
	return !row->items[0];
}

static inline uint64_t diff_base_period(const struct diff_row *row)
{
	return row->items[0] ? row->items[0]->period : 0;
}

/* In percentage points, whatever is computed; a file without the row has a share of 0. NaN: the file has no samples. */
double diff_share_change(const struct diff_event *event, const struct diff_row *row, uint32_t file);

static inline bool diff_row_is_shown(const struct diff_row *row)
{
	return !row->shown->entry->filtered;
}
