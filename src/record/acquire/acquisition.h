/* A measurement whose records go to a callback: target, command, events and rings, without a file. For views of what runs now.
 * Knows no session and no output.
 *
 * Order: first what existed before (existing_write, time 0), then rounds. A round holds what all rings have that nothing older can
 * still follow, sorted by time, and ends with FINISHED_ROUND: no record is older than one of an earlier round. Last, LOST_SAMPLES
 * for what found no room: while the caller is busy, records wait in the rings; when these are full, the kernel drops further ones.
 * Lifetime: the bytes of a record are valid during the callback alone. The 8 bytes before its body are its header.
 * Threads: one; the callback runs on the thread that calls acquisition_step.
 * Signals that would end the process are held from open to close; one of them ends the measurement (acquisition_signal). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/error.h"
#include "base/str.h"
#include "record/acquire/configure.h"
#include "record/acquire/counters.h"
#include "record/acquire/target.h"

struct acquisition_options {
	struct sampling sampling;        /* times are always recorded: the order needs them */
	struct target_options target;
	struct events *events;           /* parsed; empty: the default event; completed here; borrowed until the close */
	const char *const *command;      /* to be started, ends with NULL; NULL: none */
	size_t pages;                    /* of a ring, a power of two; 0: what the kernel allows everyone */
	unsigned map_timeout_ms;         /* for reading the mappings of a process; 0: no limit */
};

struct acquisition_counts {
	uint64_t records, rounds;        /* handed over */
	uint64_t lost_samples;           /* rings were full; known at the end */
	uint64_t missing_threads, slow_maps;
};

struct acquisition;

struct acquisition_take {
	/* Takes a record. 0: continue; > 0: end the measurement, no further record is wanted; < 0: *err, likewise. */
	int (*record)(void *context, const struct record *record, struct error *err);
	void *context;
};

/* Opens the events; the command waits for the first step. notes: as counters_open and configure_events write them; may be NULL. */
int acquisition_open(struct acquisition **acquisition, const struct acquisition_options *options, struct str *notes, struct error *err);
/* Ends what still runs, the command too, and waits for it. NULL is fine. */
void acquisition_close(struct acquisition *acquisition);

/* Waits until there are records, at most some 0.1 s, and hands them over. The first one starts the measurement.
 * 1: more may come; 0: the target has ended, a signal came, or `take` has asked for the end; < 0: *err, and nothing comes after it. */
int acquisition_step(struct acquisition *acquisition, const struct acquisition_take *take, struct error *err);
/* All steps. */
int acquisition_run(struct acquisition *acquisition, const struct acquisition_take *take, struct error *err);

/* Fills an empty evlist with the events as the records have them. */
void acquisition_evlist(const struct acquisition *acquisition, struct evlist *evlist);
/* No more records come. */
bool acquisition_ended(const struct acquisition *acquisition);
const struct acquisition_counts *acquisition_counts(const struct acquisition *acquisition);
/* The signal that asked for the end; 0: none. */
int acquisition_signal(const struct acquisition *acquisition);
