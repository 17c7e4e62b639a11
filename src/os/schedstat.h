/* /proc/schedstat: the scheduler's counters of each CPU and of its domains (Documentation/scheduler/sched-stats.rst, versions 15 to 17),
 * and the switch that lets the kernel count. */
#pragma once
#include "abi/schedstat.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#define SCHEDSTAT_PATH "/proc/schedstat"

struct schedstat_line {
	struct schedstat_row row;
	const char *name;      /* of the domain: "SMT"; NULL: a CPU, or a version that has no names */
	const char *mask;      /* of the domain: its CPUs as the kernel prints them: "00000000,00000003"; NULL: a CPU */
};

struct schedstat {
	uint16_t version;
	uint64_t timestamp;    /* jiffies */
	VEC(struct schedstat_line) lines; /* each CPU, followed by its domains */
	struct arena arena;
};

/* Each takes a zeroed struct. Fails for another version, and for lines with another number of counters. */
int schedstat_parse(struct schedstat *stat, const char *text, struct error *err);
int schedstat_read(struct schedstat *stat, const char *path, struct error *err);
void schedstat_fini(struct schedstat *stat);

/* Appends the CPUs of a mask as a list: "0-1,64". A mask that is no mask adds nothing. */
void schedstat_cpus(const char *mask, struct str *out);

/* Lets the kernel count (kernel.sched_schedstats); *was_off: it did not, and schedstat_disable is due. */
int schedstat_enable(bool *was_off, struct error *err);
void schedstat_disable(void);
