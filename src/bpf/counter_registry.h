/* Counters of whole CPUs that several processes share: a map of attributes, pinned in the BPF file system, has for each attribute the map
 * of its counters, one per CPU. Counters and their map live as long as a process or a program uses them; the pinned map is removed by the
 * last process that closes it. No process waits for another: at worst, two that begin or end at the same time do not share. Knows no
 * counts. */
#pragma once
#include <stdint.h>

#include "abi/attr.h"
#include "base/error.h"
#include "os/cpus.h"
#include "os/place.h"

#define COUNTER_REGISTRY_PATH "/sys/fs/bpf/perfuse_counters"

struct counter_registry {
	struct place place;
	int map, sign;       /* `sign`: a map that shows that this process lives; descriptors */
	uint32_t id;         /* of `map` */
	uint32_t sign_id;
};

/* path NULL: counters are not shared. Creates the pinned map (mode 0600) if it is missing. Refuses what is no such map, what belongs to
 * another user or what others may change (ERROR_PERMISSION), and a folder that is not of the BPF file system. */
int counter_registry_open(struct counter_registry *registry, const char *path, struct error *err);
/* The map of the counters with this attribute (a descriptor), of which those on `cpus` are opened if no process has them. < 0: -errno of
 * perf_event_open(2) or bpf(2). */
int counter_registry_counters(struct counter_registry *registry, const struct attr *attr, const struct cpus *cpus);
void counter_registry_close(struct counter_registry *registry);
