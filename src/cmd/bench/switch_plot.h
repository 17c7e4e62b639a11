/* The results of `bench switch` as bars: the latencies of each run, and the time of a turn over the values of a sweep. */
#pragma once
#include "cmd/bench/switch_rows.h"

/* A power of two of the latencies of a run. */
struct latency_bar {
	size_t run;                  /* from 1 */
	uint64_t from_ns, to_ns;     /* exclusive */
	uint64_t count, largest;     /* largest: of the run */
};

struct latency_bars {
	VEC(struct latency_bar) list;
};

void latency_bars_make(struct latency_bars *bars, const struct switch_rows *rows);
/* The tables borrow their rows. `bars`: with a column of bars, for text. */
struct table latency_bars_table(const struct latency_bars *latencies, bool bars);
/* What a sweep varies: a column of the table of results. */
struct switch_sweep {
	const struct switch_rows *rows;
	const char *of;              /* "pairs", "set" … */
	uint64_t (*value)(const struct turns_plan *plan);
	struct table_column columns[3];
};
struct table sweep_table(struct switch_sweep *sweep);
