/* Times of virtual machines in a trace: while a guest runs, TSC packets have its TSC, which differs from the host's by an offset that a
 * field of its VMCS has. Finds the offsets by MTC packets, which count the same crystal in both, and the values that packets have with the
 * host's TSC. Source: Intel SDM vol. 3, "Intel Processor Trace", on VMX, TSC and TMA packets; where a choice is a guess, it is perf 6.12's.
 * Changes no byte itself. */
#pragma once
#include "base/vec.h"
#include "decode/intel_pt/decoder.h"

/* What is known of a VMCS. */
struct pt_guest_offset {
	uint64_t vmcs;           /* as in packets */
	uint64_t ticks;          /* the guest's TSC minus the host's; 0: unknown */
	bool reliable;           /* the user's, or found where nothing could be lost */
	bool reported;
};

enum pt_guest_remark {
	PT_GUEST_OFFSET,         /* the offset of a VMCS was found */
	PT_GUEST_NO_OFFSET,      /* packets of a VMCS before its offset is known: each has an offset of its own */
	PT_GUEST_NO_VMCS,        /* a guest runs, but no packet says of which VMCS */
	PT_GUEST_NO_TMA,         /* a TSC packet without the counter that its offset is found by */
	PT_GUEST_FIRST,          /* the first TSC packet is a guest's, and its offset is not known */
	PT_GUEST_RANGE,          /* a time is outside of the recording */
};

struct pt_guest_times {
	VEC(struct pt_guest_offset) offsets;
	uint64_t usual;          /* offset of a VMCS that is not listed; 0: unknown */
	uint64_t from;           /* TSC: nothing is older; 0: unknown */
	/* A byte of a packet at pieces[piece].bytes.data[at] has another value with the host's TSC. */
	void (*change)(void *context, size_t piece, size_t at, uint8_t value);
	void (*remark)(void *context, enum pt_guest_remark remark, uint64_t vmcs, uint64_t ticks);
	void *context;
};

void pt_guest_times_fini(struct pt_guest_times *times);
/* The offset of a VMCS, which is added if it is new; NULL: no VMCS and no usual offset, or too many. */
struct pt_guest_offset *pt_guest_times_of(struct pt_guest_times *times, uint64_t vmcs, uint64_t ticks);
/* Reads the packets of one queue. */
void pt_guest_times_run(struct pt_guest_times *times, const struct pt_config *config, const struct pt_piece *pieces, size_t count);
