/* The PMUs of this machine: types, formats of their config words, named events, CPUs. Source: /sys/bus/event_source/devices
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-*). Where the kernel names no event, the files of vendors may (vendor.h). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/attr.h"
#include "base/arena.h"
#include "base/vec.h"
#include "os/cpus.h"
#include "vendor/vendor.h"

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
	const struct vendor_event *vendor; /* NULL: the kernel's event */
};

struct pmu_cap {
	const char *name, *value; /* "max_precise", "3" */
};

struct pmu {
	const char *name;
	const char *alias;      /* a second name, that the kernel gives; NULL: absent. Read by pmu_load */
	uint32_t type;
	bool core;              /* counts the generic hardware events */
	bool loaded, all_events;
	bool absent;                     /* this machine has no such PMU, and sysfs no files of it */
	VEC(struct pmu_format) formats;
	VEC(struct pmu_event) events;
	VEC(struct pmu_cap) caps;
	struct cpus cpus;       /* from the files cpus or cpumask; empty: all */
	bool has_cpumask;       /* one CPU counts for several: its events cannot count a single thread */
};

struct pmus {
	const char *root;       /* the folder of the PMUs; NULL: the kernel's. A test sets it before the first use */
	VEC(struct pmu *) list; /* core PMUs first, then by name, numbers at the end as numbers */
	struct vendor vendor;   /* its path is set before the first use; without one there are no events of vendors */
	struct arena arena;
	bool read;
};

/* Reads names and types at the first call. If the machine has no core PMU, adds one called "cpu" of type ATTR_RAW without formats. */
void pmus_read(struct pmus *pmus);
void pmus_fini(struct pmus *pmus);
/* The length of the name without the number that distinguishes it from others of its family: of "uncore_imc_1" that of "uncore_imc". */
size_t pmu_family_length(const char *name);
/* Whether it is a trace of Intel's processors, which needs no terms. */
bool pmu_traces(const struct pmu *pmu);
size_t pmus_core_count(struct pmus *pmus);
/* Loads all but the events. */
void pmu_load(struct pmus *pmus, struct pmu *pmu);
void pmu_load_events(struct pmus *pmus, struct pmu *pmu);
/* The PMU of exactly that name or alias, loaded; NULL: unknown. */
struct pmu *pmus_named(struct pmus *pmus, const char *name);
struct pmu *pmus_by_type(struct pmus *pmus, uint32_t type);
/* Whether the name denotes the PMU, too: as its family ("uncore_cha" and "cha" denote uncore_cha_0), or as a pattern ("uncore_*"). The PMU
 * is loaded. */
bool pmu_matches(const struct pmu *pmu, const char *name);
/* Whether it counts what software does, so that its events can be in the event group of another PMU. The PMU is loaded. */
bool pmu_is_software(const struct pmu *pmu);

/* The text of a file below caps; NULL: absent. */
const char *pmu_cap(const struct pmu *pmu, const char *name);
/* The number in a file of the PMU's folder, such as nr_addr_filters; 0 if it is absent. */
uint64_t pmu_number(const struct pmus *pmus, const struct pmu *pmu, const char *file);
const struct pmu_format *pmu_format(const struct pmu *pmu, const char *name, size_t length);
/* Reads the event if it is not loaded. Case does not matter. NULL: unknown. Valid until another event of the PMU is read. */
const struct pmu_event *pmu_event(struct pmus *pmus, struct pmu *pmu, const char *name);
/* The same of the kernel's events alone. */
const struct pmu_event *pmu_kernel_event(struct pmus *pmus, struct pmu *pmu, const char *name);
/* Parses "64Bytes" of a file into a factor and a unit, which may be "". The unit is a part of the text. */
double pmu_scale_parse(const char *text, const char **unit);
/* Distributes a value over the bits of the format, beside those that are set (like perf: "mem-loads,ldlat=30" is 3 and 30 together);
 * false: the value has too many bits. */
bool pmu_format_apply(const struct pmu_format *format, uint64_t value, struct attr *attr);
uint64_t pmu_format_max(const struct pmu_format *format);
