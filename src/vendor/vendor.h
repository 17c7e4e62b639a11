/* Events and metrics of processors as their vendors publish them: JSON files that the user has, of the perfmon repositories or of the
 * kernel's tree (tools/perf/pmu-events). A folder with "mapfile.csv", or with such a folder for this architecture ("x86"), has files for
 * many processors; those of this one are read. Of other folders all files are read. Knows no PMU and opens no counter. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "metric/metric.h"

/* Limits of foreign files. */
enum {
	VENDOR_FILE_MAX = 64 << 20, VENDOR_TOTAL_MAX = 256 << 20, VENDOR_FILES_MAX = 1024, VENDOR_EVENTS_MAX = 1 << 18,
	VENDOR_METRICS_MAX = 1 << 14, VENDOR_REMARKS_MAX = 8,
	VENDOR_STANDARD_MAX = 1 << 12,   /* of an architecture: each entry that refers to one searches all */
	VENDOR_SAME_NAME_MAX = 256,
};

/* Texts are NULL where they are absent. */
struct vendor_event {
	const char *name;                /* in lower case */
	const char *unit;                /* the PMU that counts it: "uncore_cha", "cpu_atom"; "default_core": that of the cores */
	const char *terms;               /* "event=0x3c,umask=0x1,period=2000003" */
	const char *topic;               /* the name of its file: "floating point" */
	const char *description, *long_description;
	const char *scale_unit;          /* "64Bytes" */
	bool per_package, deprecated;
	uint32_t next;                   /* the next event whose name has the same hash; VENDOR_NO_EVENT: the last */
};

#define VENDOR_NO_EVENT UINT32_MAX

struct vendor_group {
	const char *name, *description;
};

struct vendor {
	const char *path;                /* folders, separated by colons; NULL: none. Set before the first use */
	char cpu[128];                   /* the processor as a mapfile names it; "": the machine's */
	VEC(struct vendor_event) events, standard_events; /* standard: those of the architecture, from which others copy */
	VEC(struct metric) metrics, standard_metrics;
	VEC(struct vendor_group) groups;
	VEC(const char *) remarks;       /* a sentence for each of the first damaged files and entries */
	size_t files, bytes, refused;    /* refused: what the remarks would be about, if they were not limited */
	struct idmap by_name;            /* hash of a name → the first event with it */
	struct idmap metric_by_name;     /* hash of a name → the metric */
	struct arena arena;
	bool read, standard;             /* standard: what is read is of standard_events and standard_metrics */
};

/* Reads the files at the first call. Damaged files and entries are left out, with a remark. */
void vendor_read(struct vendor *vendor);
void vendor_fini(struct vendor *vendor);
/* The next event of that name in any case, after `from` (NULL: the first); NULL: no further one. Reads the files. */
const struct vendor_event *vendor_find(struct vendor *vendor, const char *name, const struct vendor_event *from);
/* The metric of that name in any case; NULL: unknown. Reads the files. */
const struct metric *vendor_metric(struct vendor *vendor, const char *name);
/* Whether the pattern of a mapfile or of strcmp_cpuid_str denotes the processor. */
bool vendor_cpu_matches(const char *pattern, const char *cpu);
/* The processor as a mapfile names it: "GenuineIntel-6-8F-8", "0x00000000410fd490"; $PERF_CPUID replaces it, as in perf. */
bool vendor_cpu(char *cpu, size_t size);
