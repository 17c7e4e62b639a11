#include "record/acquire/affinity.h"

#include <sched.h>

#include "unit.h"

TEST("a thread is moved to the CPU of a ring, or stays on CPUs of its node, and remains where it may not run")
{
	cpu_set_t before, now;
	int32_t cpu = 0, absent[] = { -1, CPU_SETSIZE };
	struct affinity affinity;
	EXPECT_INT(sched_getaffinity(0, sizeof before, &before), 0);
	while (cpu < CPU_SETSIZE && !CPU_ISSET((unsigned)cpu, &before))
		cpu++;
	affinity_open(&affinity, false);
	EXPECT_INT(affinity.nodes.count, 0);
	affinity_follow(&affinity, -1); /* a ring of a thread */
	EXPECT_INT(affinity.cpu, -1);
	affinity_follow(&affinity, cpu);
	EXPECT_INT(affinity.cpu, cpu);
	EXPECT(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_COUNT(&now) == 1 && CPU_ISSET((unsigned)cpu, &now));
	EXPECT(!affinity_set(absent, 2) && !affinity_set(&cpu, 0));
	affinity_close(&affinity);
	EXPECT_INT(sched_setaffinity(0, sizeof before, &before), 0);

	/* a node of all usable CPUs, and one that does not exist */
	affinity = (struct affinity){ .cpu = -1 };
	struct cpus *node = vec_add(&affinity.nodes);
	*node = (struct cpus){ 0 };
	vec_push(&node->list, CPU_SETSIZE + 5);
	node = vec_add(&affinity.nodes);
	*node = (struct cpus){ 0 };
	for (int32_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((unsigned)i, &before))
			vec_push(&node->list, i);
	affinity_follow(&affinity, cpu);
	EXPECT(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &before));
	EXPECT_INT(affinity.cpu, cpu);
	affinity_follow(&affinity, node->list.items[node->list.count - 1]); /* of the same node: it was not moved */
	EXPECT_INT(affinity.cpu, cpu);
	affinity_follow(&affinity, CPU_SETSIZE + 5);
	EXPECT_INT(affinity.cpu, cpu);
	affinity_close(&affinity);
	EXPECT_INT(affinity.nodes.count, 0);
	EXPECT_INT(sched_setaffinity(0, sizeof before, &before), 0);
}
