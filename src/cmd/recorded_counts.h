/* The counts of a recording of `stat record`, round by round: what each counter has counted since the round before. */
#pragma once
#include "analysis/stat/stat_records.h"
#include "analysis/stat/stat_table.h"
#include "base/arena.h"
#include "cmd/command.h"
#include "data/source.h"
#include "event/event.h"

struct recorded_counts {
	struct source *source;
	struct events *events;           /* borrowed; complete with the configuration, names live as long as this struct */
	struct arena arena;
	struct stat_threads threads;
	struct cpus cpus;
	struct stat_config config;
	bool configured;
	VEC(struct cpus) event_cpus;     /* those that differ from `cpus`; empty: the same */
	VEC(size_t) first;               /* by event: index of its first counter */
	VEC(struct stat_counter) counters;
	VEC(struct stat_count) now, before, since;
	VEC(bool) missing;               /* by event: it has no count yet */
	struct stat_round round;
};

enum recorded_step { RECORDED_END, RECORDED_CONFIGURATION, RECORDED_ROUND };

/* Opens the recording, of which events that exceed the budget are left out; recorded_counts_fini is due also after a failure, then `source`
 * is NULL. */
int recorded_counts_open(struct recorded_counts *counts, const char *path, struct events *events, struct budget *budget,
	struct error *err);
/* Reads up to the next step: first the configuration, with events, counters, CPUs and threads, then rounds, with `round` and `since`.
 * < 0: *err. */
int recorded_counts_next(struct recorded_counts *counts, struct error *err);
/* Prints if the recorder was killed, and what was left out. Returns an exit code. */
int recorded_counts_complain(const struct recorded_counts *counts, const struct cli *cli, const char *path);
void recorded_counts_fini(struct recorded_counts *counts);
