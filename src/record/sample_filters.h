/* The BPF programs that drop samples of the events of a measurement (--filter). Internal to record/. */
#pragma once
#include "base/error.h"
#include "base/vec.h"
#include "base/writer.h"
#include "bpf/sample_filter.h"
#include "bpf/shared_filter.h"
#include "record/acquire/measurement.h"

/* The program of one event: its own, or the one that root has pinned for all users. */
struct event_filter {
	struct sample_filter own;
	struct shared_filter shared;
};

struct sample_filters {
	VEC(struct event_filter) list; /* by event; empty: no event has a condition */
};

/* Loads the programs and attaches them to the opened counters. */
int sample_filters_open(struct sample_filters *filters, struct measurement *m, struct error *err);
void sample_filters_close(struct sample_filters *filters);
/* Appends a LOST_SAMPLES record for each event of which samples were dropped; returns their number. */
uint64_t sample_filters_write(const struct sample_filters *filters, const struct measurement *m, struct writer *out);
