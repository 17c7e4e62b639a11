/* The PMUs of this machine: types, formats of their config words, named events, CPUs. Source: /sys/bus/event_source/devices
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-*). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/attr.h"
#include "base/arena.h"
#include "base/vec.h"
#include "os/cpus.h"

struct pmu_format {
	const char *name;       /* "umask" */
	uint8_t word;           /* 0 config, 1 config1, 2 config2, 3 config3 */
	uint64_t bits;          /* the bits of the word that receive the value, lowest first */
};

struct pmu_event {
	const char *name;       /* "energy-pkg" */
	const char *terms;      /* "event=0x02,umask=?" */
	const char *unit;       /* NULL: a plain number */
	double scale;
	bool per_package, snapshot;
};

struct pmu_cap {
	const char *name, *value; /* "max_precise", "3" */
};

struct pmu {
	const char *name;
	uint32_t type;
	bool core;              /* counts the generic hardware events */
	bool loaded;
	VEC(struct pmu_format) formats;
	VEC(struct pmu_event) events;
	VEC(struct pmu_cap) caps;
	struct cpus cpus;       /* from the files cpus or cpumask; empty: all */
	bool has_cpumask;       /* one CPU counts for several: its events cannot count a single thread */
};

struct pmus {
	VEC(struct pmu *) list; /* core PMUs first, then by name */
	struct arena arena;
	bool read;
};

/* Reads names and types at the first call. If the machine has no core PMU, adds one called "cpu" of type ATTR_RAW without formats. */
void pmus_read(struct pmus *pmus);
void pmus_fini(struct pmus *pmus);
/* Finds the PMUs that a name denotes and loads their details: the PMU of that name, or all of a numbered family ("uncore_cha" and "cha"
 * denote uncore_cha_0 and so on). Returns their number; the first `max` are stored in out. */
size_t pmus_find(struct pmus *pmus, const char *name, size_t length, struct pmu **out, size_t max);
struct pmu *pmus_by_type(struct pmus *pmus, uint32_t type);
void pmu_load(struct pmus *pmus, struct pmu *pmu);

const struct pmu_format *pmu_format(const struct pmu *pmu, const char *name, size_t length);
const struct pmu_event *pmu_event(const struct pmu *pmu, const char *name, size_t length);
/* Distributes a value over the bits of the format; false: the value has too many bits. */
bool pmu_format_apply(const struct pmu_format *format, uint64_t value, struct attr *attr);
uint64_t pmu_format_max(const struct pmu_format *format);
