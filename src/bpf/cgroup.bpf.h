/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The id of the current task's cgroup: in cgroup2 (unified), or in the hierarchy of perf_event. 0: unknown. */
#pragma once
#include "bpf/common.bpf.h"

const volatile bool unified;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
};

struct task_struct___cgroups {
	struct css_set *cgroups;
};

#pragma clang attribute pop

enum cgroup_subsys_id { perf_event_cgrp_id = 8 };

static inline __u64 cgroup_of_current(void)
{
	if (unified)
		return bpf_get_current_cgroup_id();
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, perf_event_cgrp_id))
		return 0;
	const struct task_struct___cgroups *task = (void *)bpf_get_current_task();
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *state = NULL;
	__u64 index = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);
	if (!set || bpf_probe_read_kernel(&state, sizeof state, (void *)&set->subsys + index * sizeof state) < 0 || !state)
		return 0;
	return BPF_CORE_READ(state, cgroup, kn, id);
}
