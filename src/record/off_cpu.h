/* record --off-cpu: the time that threads are blocked, summed by BPF, becomes samples of the event offcpu-time at the end of the recording;
 * with a threshold, longer waits become samples when they end.
 * Source: perf's format of these samples; here they also have the kernel's frames, and registers and a stack copy that readers unwind. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/writer.h"
#include "bpf/offcpu.h"
#include "data/evlist.h"
#include "record/acquire/measurement.h"

struct off_cpu {
	struct offcpu programs;
	bool open, stopped;
	bool no_kernel;              /* without frames of the kernel */
	bool alone;                  /* long waits have samples of their own */
	struct idmap named;          /* by thread id: threads with a COMM record */
	uint64_t samples;
};

struct off_cpu_options {
	bool wanted, wakers, futexes;
	bool details;                /* samples have a payload (abi/off_cpu.h) */
	bool alone;                  /* waits of at least least_ms have samples of their own, with the time at which they end */
	unsigned least_ms;
};

/* Loads the programs, when the command's process exists. */
int off_cpu_open(struct off_cpu *off, const struct off_cpu_options *options, const struct measurement *m, struct error *err);
/* Attaches them: after the records about what exists, so that each stack that is copied has its mappings. */
int off_cpu_start(struct off_cpu *off, struct error *err);
/* Appends the samples of long waits that ended. */
void off_cpu_take(struct off_cpu *off, const struct measurement *m, const struct evlist *evlist, struct writer *out);
/* Appends the other samples, once, and sentences on what is missing. */
void off_cpu_write(struct off_cpu *off, const struct measurement *m, const struct evlist *evlist, struct writer *out, struct str *warnings);
void off_cpu_close(struct off_cpu *off);
