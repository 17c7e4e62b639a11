/* Which samples a user wants to see, for every analysis. The analysis knows what a name or a CPU of a sample is, and in which order it
 * asks. A zeroed struct lets every sample pass. Copies share what the owner frees. */
#pragma once
#include "analysis/filter/name_filter.h"
#include "analysis/filter/time_filter.h"

/* A set of CPU numbers. */
struct cpu_filter {
	uint64_t *words; /* a bit for each CPU; NULL: every CPU passes */
	size_t word_count;
};

/* From here on only CPUs that are added pass. */
void cpu_filter_init(struct cpu_filter *filter, uint32_t cpu_count);
/* cpu: below cpu_count. */
void cpu_filter_add(struct cpu_filter *filter, uint32_t cpu);

static inline bool cpu_filter_has(const struct cpu_filter *filter, uint32_t cpu)
{
	return !filter->words || (cpu / 64 < filter->word_count && filter->words[cpu / 64] >> cpu % 64 & 1);
}

struct sample_filter {
	struct name_list *comms, *dsos, *symbols, *pids, *tids; /* NULL: all pass; symbols may be addresses */
	struct time_filter time;
	struct cpu_filter cpus;
};

void sample_filter_fini(struct sample_filter *filter);
