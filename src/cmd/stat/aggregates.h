/* What counts are added up to: by CPU, core … or thread, with the label of each sum. The counters may be those of this machine, or of a
 * recording that has its topology. */
#pragma once
#include "analysis/stat/stat_table.h"
#include "base/arena.h"
#include "record/count/cpu_place.h"
#include "render/stat/stat_text.h"

struct aggregate_thread {
	int32_t tid;
	const char *comm;
};

struct aggregates_input {
	const struct stat_counter *counters;
	size_t count;
	const struct aggregate_thread *threads;
	size_t thread_count;
	/* The place of a CPU; NULL: as sysfs has it. */
	void (*place)(void *context, struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int cache_level);
	void *context;
	enum stat_grain grain;
	int cache_level;         /* 0: the last */
	bool cores;              /* with STAT_CPU: find the cores, too */
};

struct aggregates {
	struct arena arena;
	VEC(const char *) labels;        /* in the order of rows: by place */
	VEC(int32_t) tids;               /* of threads */
	VEC(uint32_t) cores;             /* if asked for, of each CPU: the first one of its core */
	VEC(const char *) core_labels;   /* the same: "S0-D0-C1" */
	VEC(struct stat_place) places;   /* of each counter */
};

void aggregates_make(struct aggregates *aggregates, const struct aggregates_input *input);
void aggregates_fini(struct aggregates *aggregates);
