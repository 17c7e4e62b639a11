/* The functions of libpfm4 and what they fill, in the first version of its interface (perfmon/pfmlib.h). Internal to event/. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "abi/attr.h"
#include "base/error.h"

enum { PFM_SUCCESS = 0, PFM_OS_PERF_EVENT_EXT = 2 };

struct pfm_pmu_info {
	const char *name, *description;
	size_t size;
	int pmu, type, event_count, first_event, encoding_max, counters, fixed_counters;
	unsigned flags;                  /* bit 0: this machine has it */
};

struct pfm_event_info {
	const char *name, *description, *same_as;
	size_t size;
	uint64_t code;
	int pmu, kind, index, attribute_count, reserved;
	unsigned flags;
};

enum { PFM_ATTRIBUTE_UMASK = 1, PFM_ATTRIBUTE_BOOL = 2, PFM_ATTRIBUTE_INTEGER = 3 };

struct pfm_attribute_info {
	const char *name, *description, *same_as;
	size_t size;
	uint64_t code;
	int type, index, source;
	unsigned flags;                  /* bit 0: the usual one; bit 1: precise */
	uint64_t usual_value;
};

struct pfm_functions {
	int (*initialize)(void);
	const char *(*strerror)(int code);
	int (*encode)(const char *text, int default_levels, int system, void *encoding);
	int (*pmu_info)(int pmu, struct pfm_pmu_info *info);
	int (*event_next)(int index);
	int (*event_info)(int index, int system, struct pfm_event_info *info);
	int (*attribute_info)(int event, int index, int system, struct pfm_attribute_info *info);
};

/* Loads the library; < 0: it is absent, or knows nothing of this machine. */
int pfm_open(struct pfm_functions *pfm, struct error *err);
/* The library's status; PFM_SUCCESS: *attr counts the event. */
int pfm_encode(const struct pfm_functions *pfm, const char *name, struct attr *attr);
