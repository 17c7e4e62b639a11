/* The times of virtual machines in an opened trace, as changes of the file that it is in. */
#pragma once
#include <stdint.h>

#include "base/error.h"
#include "decode/intel_pt/guest_time.h"

struct trace;

struct trace_guest_times {
	void (*change)(void *context, uint64_t offset, uint8_t value); /* of a byte in the file */
	void (*remark)(void *context, enum pt_guest_remark remark, uint64_t vmcs, uint64_t ticks);
	void *context;
};

/* times: with the offsets that the user knows. */
int trace_correct_guests(struct trace *trace, struct pt_guest_times *times, const struct trace_guest_times *wanted, struct error *err);
