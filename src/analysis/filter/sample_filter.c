#include "analysis/filter/sample_filter.h"

#include <stdlib.h>

#include "base/memory.h"

void cpu_filter_init(struct cpu_filter *filter, uint32_t cpu_count)
{
	filter->word_count = (cpu_count + 63) / 64;
	filter->words = memory_zero(filter->word_count, sizeof *filter->words);
}

void cpu_filter_add(struct cpu_filter *filter, uint32_t cpu)
{
	filter->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

void sample_filter_fini(struct sample_filter *filter)
{
	name_list_close(filter->comms);
	name_list_close(filter->dsos);
	name_list_close(filter->symbols);
	name_list_close(filter->pids);
	name_list_close(filter->tids);
	time_filter_fini(&filter->time);
	free(filter->cpus.words);
}
