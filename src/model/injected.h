/* Virtual machines whose side-band was added to their host's recording (`inject --guest-data`): the machine and the virtual CPU of an
 * event's id. Their threads are in the model of the host, under thread ids of their own range. Source: perf.data-file-format.txt. */
#pragma once
#include <stdint.h>

#include "abi/record.h"
#include "base/hash.h"
#include "base/vec.h"

struct injected_id {
	int32_t machine;           /* process that runs it */
	uint32_t vcpu;
	uint32_t number;           /* of the machine: 0, 1, … */
};

struct injected {
	VEC(struct injected_id) ids;
	struct idmap by_id;        /* id → index in ids */
	struct idmap machines;     /* process → number */
	uint32_t machine_count;
};

void injected_fini(struct injected *injected);
/* Reads an ID_INDEX record; most have no virtual machines. */
void injected_read(struct injected *injected, const struct record *record);
/* NULL: the id is the host's. */
static inline const struct injected_id *injected_get(const struct injected *injected, uint64_t id)
{
	uint32_t index = injected->ids.count ? idmap_get(&injected->by_id, id) : IDMAP_NONE;
	return index == IDMAP_NONE ? NULL : &injected->ids.items[index];
}
/* The thread id that the model has for one of the machine. */
int32_t injected_tid(const struct injected_id *id, int32_t tid);
