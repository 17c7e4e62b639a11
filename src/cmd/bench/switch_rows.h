/* The results of `bench switch` as a table: a row for each plan. */
#pragma once
#include "analysis/table/table.h"
#include "cmd/bench/switch_counters.h"
#include "turns/turns.h"

struct switch_rows {
	VEC(struct switch_row {
		struct turns_plan plan;
		struct turns_result result;
		struct switch_counters counters;
	}) list;
};

/* The table borrows the rows. */
struct table switch_table(const struct switch_rows *rows);
