/* The configuration word of intel_pt: its default, and its validity on this processor, by the capabilities and formats of the PMU. Source:
 * perf-intel-pt(1), "config terms", and arch/x86/events/intel/pt.c, which makes the files below caps and format. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "event/pmu.h"

/* Time stamps, MTC packets and PSB packets at periods near those that perf chooses, and branches. 0 for another PMU. */
uint64_t intel_pt_default_config(const struct pmu *pmu);
/* Forces the term `pt`, without which nothing is traced; refuses periods that the processor lacks (err->sys is EINVAL). warnings: appended,
 * may be NULL. */
int intel_pt_check(const struct pmu *pmu, uint64_t *config, struct str *warnings, struct error *err);
/* The file of caps that is 0, although a term of the configuration needs what it states; NULL: the processor has all. *term: that term. */
const char *intel_pt_lacks(const struct pmu *pmu, uint64_t config, const char **term);
/* The maximum number of bytes between two PSB packets, at which decoding can begin. */
size_t intel_pt_psb_period(const struct pmu *pmu, uint64_t config);
/* The bits of the configuration that a term sets with the value 1; 0: the PMU has no such term. */
uint64_t intel_pt_bit(const struct pmu *pmu, const char *term);
/* All bits of a term. */
uint64_t intel_pt_bits(const struct pmu *pmu, const char *term);
