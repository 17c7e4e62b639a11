/* The cgroup hierarchy that perf_event_open and PERF_RECORD_CGROUP speak of: where it is mounted, its groups and their ids. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Where perf_event's (or the unified) hierarchy is mounted; false: nowhere. */
bool cgroup_mount(char *path, size_t size, bool *unified);
/* A descriptor of the folder of a group named below the mount; < 0 with *err. */
int cgroup_open(const char *name, struct error *err);
/* Calls visit for every group, parents first, with the id samples carry and the path below the mount ("/" is the root). */
int cgroup_each(int (*visit)(void *context, uint64_t id, const char *path), void *context, struct error *err);
