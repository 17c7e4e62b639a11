/* The results of `sched` as perf's text. */
#pragma once
#include "analysis/sched/latency.h"
#include "analysis/sched/map.h"
#include "analysis/sched/timehist.h"
#include "base/writer.h"

/* What perf prints below the table of `latency` and below `map`: shares of events out of order, lost, and contradicting. */
struct sched_faults {
	uint64_t wakes, unordered, contradictions;
	uint64_t events, lost, lost_chunks;
};

void latency_print(const struct latency *latency, const struct sched_faults *faults, struct writer *out);
void sched_faults_print(const struct sched_faults *faults, struct writer *out);

/* One row of `map`; colours: of a terminal. */
void map_row_print(struct sched_map *map, const struct map_row *row, bool colours, struct writer *out);

enum { NAME_SIZE = 32 };
struct timehist_label;

struct timehist_style {
	struct timehist *timehist;
	bool cpu_visual, next, wakeups, state, priority;
	bool chains;           /* samples of switches have call chains, and they are shown */
	int32_t cpu_count;     /* as perf counts them: of the recorded machine, raised to the highest CPU of an event */
	int comm_width;        /* grows with the names */
	VEC(struct timehist_label) labels; /* by task */
};

struct timehist_label {
	const char *name;      /* of which it was made */
	uint8_t len;
	char text[NAME_SIZE];  /* "comm[tid/pid]" */
};

void timehist_style_init(struct timehist_style *style, struct timehist *timehist, uint32_t cpus_online);
void timehist_style_fini(struct timehist_style *style);
/* "comm[tid]", "comm[tid/pid]" or "swapper", cut to NAME_SIZE - 1 bytes. comm_width grows with it. Valid until the next one is made. */
const struct timehist_label *timehist_label(struct timehist_style *style, uint32_t task);
void timehist_print_heading(const struct timehist_style *style, struct writer *out);
/* chain: of a turn, as text; NULL: none. */
void timehist_print_row(struct timehist_style *style, const struct timehist_row *row, const char *chain, struct writer *out);
void timehist_print_summary(struct timehist_style *style, struct writer *out);
