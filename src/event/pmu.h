/* The PMUs of this machine, as /sys/bus/event_source tells: types, formats of their config words, named events, CPUs. */
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
	uint64_t bits;          /* where the value's bits go, low ones first */
};

struct pmu_event {
	const char *name;       /* "energy-pkg" */
	const char *terms;      /* "event=0x02,umask=?" */
	const char *unit;       /* NULL */
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
	struct cpus cpus;       /* of cpus or cpumask; empty: all */
	bool has_cpumask;       /* one CPU speaks for many: its counters are not of a thread */
};

struct pmus {
	VEC(struct pmu *) list; /* core PMUs first, then by name */
	struct arena arena;
	bool read;
};

/* Reads names and types, once. A machine that tells no core PMU gets one called "cpu", of type raw, without formats. */
void pmus_read(struct pmus *pmus);
void pmus_fini(struct pmus *pmus);
/* The PMUs a name means, their details loaded: the one of that name, or all of a numbered family ("uncore_cha", "cha" are
 * uncore_cha_0 and on). Returns how many there are; the first `max` of them are in out. */
size_t pmus_find(struct pmus *pmus, const char *name, size_t length, struct pmu **out, size_t max);
struct pmu *pmus_by_type(struct pmus *pmus, uint32_t type);
void pmu_load(struct pmus *pmus, struct pmu *pmu);

const struct pmu_format *pmu_format(const struct pmu *pmu, const char *name, size_t length);
const struct pmu_event *pmu_event(const struct pmu *pmu, const char *name, size_t length);
/* Puts a value into the attribute where the format says; false where it has more bits than there is room. */
bool pmu_format_apply(const struct pmu_format *format, uint64_t value, struct attr *attr);
uint64_t pmu_format_max(const struct pmu_format *format);
