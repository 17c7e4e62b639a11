#include "workload/workload.h"

#include <string.h>

#include "workload/programs.h"

#define WORKLOAD(word) { .name = #word, .run = word }
static const struct workload workloads[] = {
	WORKLOAD(noploop), WORKLOAD(thloop), WORKLOAD(leafloop), WORKLOAD(sqrtloop), WORKLOAD(brstack), WORKLOAD(datasym),
	WORKLOAD(landlock), WORKLOAD(inlineloop), WORKLOAD(named_threads), WORKLOAD(context_switch_loop), WORKLOAD(traploop),
};

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < workloads_count(); i++)
		if (!strcmp(workloads[i].name, name))
			return &workloads[i];
	return NULL;
}

size_t workloads_count(void)
{
	return sizeof workloads / sizeof *workloads;
}

const struct workload *workloads_at(size_t i)
{
	return &workloads[i];
}
