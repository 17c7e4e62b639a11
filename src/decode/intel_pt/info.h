/* AUXTRACE_INFO of Intel PT: how the trace was made, and what the processor is. Source of the layout: files of perf 6.12 and its dump of
 * this record. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/time_conv.h"
#include "decode/intel_pt/clock.h"

struct record;

enum { TRACE_INTEL_PT = 1 };

struct pt_info {
	uint32_t pmu_type;
	struct time_conv time;           /* known: perf's clock and the TSC convert into each other */
	uint64_t tsc_bit, noretcomp_bit, mtc_bit, mtc_freq_bits, cyc_bit; /* of the event's config */
	uint32_t ctc_numerator, ctc_denominator, non_turbo_ratio;
	unsigned have_switches;          /* 0: no record of context switches; 1: sched_switch; 2, 3: SWITCH records */
	bool snapshot, per_cpu;
	bool event_trace;                /* the processor can trace interrupts */
};

/* False: the record is not of Intel PT, or too short. */
bool pt_info_read(struct pt_info *info, const struct record *record);
/* For an event with this config. */
void pt_info_clock(const struct pt_info *info, uint64_t config, struct pt_clock_config *clock);
/* TSC ticks at a time in ns, the inverse of time_conv_time; 0 if the conversion is unknown. */
uint64_t pt_info_ticks(const struct pt_info *info, uint64_t ns);
/* TSC ticks in a duration of ns; 0 if the conversion is unknown. */
uint64_t pt_info_duration(const struct pt_info *info, uint64_t ns);
