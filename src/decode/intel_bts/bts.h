/* Intel BTS (Branch Trace Store), the trace before Intel PT: a record of 24 bytes for each taken branch, without a time. Source: Intel SDM
 * vol. 3, "Branch Trace Store"; the layout of AUXTRACE_INFO: perf 6.12's dump of this record. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "decode/intel_pt/info.h"

enum { TRACE_INTEL_BTS = 2, BTS_RECORD_BYTES = 24 };

struct bts_branch {
	uint64_t from, to;       /* from 0: the trace begins at `to`; to 0: it ends at `from` */
	bool predicted;
};

/* The record at *at, which then is behind it; false: fewer bytes are left than a record has. */
bool bts_next(struct span trace, size_t *at, struct bts_branch *branch);
/* How many bytes of `next` the end of `before` has, too: snapshots of one buffer overlap. In whole records. */
size_t bts_overlap(struct span before, struct span next);
/* AUXTRACE_INFO: type of the PMU, clock, snapshot; the rest of *info is 0. False: it is not of Intel BTS, or too short. */
bool bts_info_read(struct pt_info *info, const struct record *record);
