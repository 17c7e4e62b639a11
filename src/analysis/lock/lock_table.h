/* Sums of waits as a table: the result of `lock report` and `lock contention` for every format. */
#pragma once
#include "analysis/lock/lock_stats.h"
#include "analysis/table/table.h"

struct lock_table {
	const struct lock_order *order;
	enum lock_group group;
	bool acquired;           /* with the number of acquisitions (report) */
	struct table table;      /* valid while the struct does not move */
};

void lock_table_init(struct lock_table *table, const struct lock_order *order, enum lock_group group, bool acquired);
