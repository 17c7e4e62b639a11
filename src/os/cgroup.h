/* The cgroup hierarchy that perf_event_open(2) and PERF_RECORD_CGROUP use: its mount, its groups and their ids (cgroups(7)). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The mount of perf_event's (or the unified) hierarchy; false: not mounted. */
bool cgroup_mount(char *path, size_t size, bool *unified);
/* A descriptor of the folder of a group named below the mount; < 0 with *err. */
int cgroup_open(const char *name, struct error *err);
/* The id in samples of a group named below the mount. */
int cgroup_id(const char *name, uint64_t *id, struct error *err);
/* Calls visit for every group, parents first, with the id in samples and the path below the mount ("/" is the root). */
int cgroup_each(int (*visit)(void *context, uint64_t id, const char *path), void *context, struct error *err);
