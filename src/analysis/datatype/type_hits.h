/* Samples by the type of the memory that their instructions access, and by offset in the type. A value; texts and layouts belong to the
 * formats. */
#pragma once
#include "analysis/annotate/event_columns.h"
#include "analysis/annotate/hits.h"
#include "analysis/annotate/order.h"
#include "analysis/datatype/datatype.h"
#include "analysis/table/table.h"

struct type_hit {
	uint64_t offset;
	uint32_t event;
	struct hit_count count;
};

/* The samples of one type. */
struct type_sum {
	uint32_t type;
	VEC(struct type_hit) hits; /* by offset, then event */
	struct hit_count *totals;  /* by event: of all samples … */
	struct hit_count *inside;  /* … and of those at an offset inside the type */
};

struct type_hits {
	struct data_types *types;
	VEC(struct type_sum) sums; /* DATA_TYPE_UNKNOWN and the others without members, too; in no order */
	size_t event_count;
};

/* Looks up all places with samples, event by event; the results are in the statistics of `types`, too. */
void type_hits_make(struct type_hits *list, const struct hits *hits, const struct modules *modules, struct symbols *symbols,
	struct data_types *types);
void type_hits_fini(struct type_hits *list);
/* The samples of one event at offsets from `offset` up to offset + size. */
struct hit_count type_sum_range(const struct type_sum *sum, uint32_t event, uint64_t offset, uint64_t size);

/* The indexes of the sums of known types that have samples of a member of the group, by period, without those below `least` percent of the
 * leader's period of all samples. name: only types of that name, without "struct" or "union" if it has none; NULL: all. The caller frees
 * *order. Returns their number. */
size_t type_order_make(const struct type_hits *list, const struct hits *hits, const struct hit_group *group, double least, const char *name,
	const struct modules *modules, uint32_t **order);

/* The members of one type as a table "type": a tree of offset, size, type, field, then samples, period and share of each event. */
struct type_table {
	struct table table;
	struct event_columns columns;
	struct table_fact facts[4];
	const struct type_sum *sum;
	const struct data_type *type;
};

void type_table_init(struct type_table *table, const struct type_hits *list, const struct type_sum *sum, const struct modules *modules,
	const char *const *event_names);
void type_table_fini(struct type_table *table);
