/* A measurement (record/acquire/measurement.h) whose records go to a callback, for views of what runs now. Knows no file, no session and no
 * output.
 *
 * Order: first the records about what existed before (existing_write, time 0), then rounds. A round has the records of all rings that
 * nothing older can still follow, sorted by time, and ends with FINISHED_ROUND: no record is older than one of an earlier round. At the
 * end, LOST_SAMPLES for the samples that found no room: while the caller is busy, records wait in the rings; when these are full, the
 * kernel drops further ones.
 * Lifetime: the bytes of a record are valid during the callback alone. The 8 bytes before its body are its header.
 * Threads: one; the callback runs on the thread that calls acquisition_step. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/error.h"
#include "record/acquire/measurement.h"

struct acquisition_options {
	struct measurement_options measurement; /* times are always recorded: the order needs them */
	size_t pages;                    /* of a ring, a power of two; 0: as many as the kernel allows every user */
	unsigned map_timeout_ms;         /* for reading the mappings of a process; 0: no limit */
	const char *user_cache;          /* the folder of what is cached between runs; NULL: nothing is; borrowed */
};

struct acquisition_counts {
	uint64_t records, rounds;        /* passed to the callback */
	uint64_t lost_samples;           /* rings were full; known at the end */
	uint64_t missing_threads, slow_maps;
};

struct acquisition;

struct acquisition_callback {
	/* Receives a record. 0: continue; > 0: end the measurement, no further record is wanted; < 0: the same, with *err. */
	int (*record)(void *context, const struct record *record, struct error *err);
	void *context;
};

/* Opens the events; the command waits for the first step. */
int acquisition_open(struct acquisition **acquisition, const struct acquisition_options *options, struct error *err);
/* Ends what still runs, the command too, and waits for it. Accepts NULL. */
void acquisition_close(struct acquisition *acquisition);

/* Waits until there are records, at most 0.1 s, and passes them to the callback. The first call starts the measurement.
 * 1: more may come; 0: the target has ended, a signal arrived, or the callback asked for the end; < 0: *err. No record comes after 0 or
 * < 0. */
int acquisition_step(struct acquisition *acquisition, const struct acquisition_callback *callback, struct error *err);
/* The same with another limit of time, >= 0; *ready: bits of acquisition_watch whose descriptors can be read, which end the wait. */
int acquisition_wait(struct acquisition *acquisition, int timeout_ms, uint32_t *ready, const struct acquisition_callback *callback,
	struct error *err);
/* Adds a descriptor of the caller's to the wait, or removes it: as measurement_watch. */
int acquisition_watch(struct acquisition *acquisition, int fd, unsigned bit, struct error *err);
void acquisition_unwatch(struct acquisition *acquisition, int fd);
/* Enables the events of a measurement with a delay. */
void acquisition_enable(struct acquisition *acquisition);
/* After the last step: waits for a command whose events have ended, so that its exit status is known. Returns at once after a signal. */
void acquisition_wait_command(struct acquisition *acquisition);
/* All steps. */
int acquisition_run(struct acquisition *acquisition, const struct acquisition_callback *callback, struct error *err);

/* Adds the events to an empty evlist, with the attributes that the records have. */
void acquisition_evlist(const struct acquisition *acquisition, struct evlist *evlist);
/* For what else is to be known of a running measurement: its target, attributes as they were opened, signals. */
const struct measurement *acquisition_measurement(const struct acquisition *acquisition);
/* No more records come. */
bool acquisition_ended(const struct acquisition *acquisition);
const struct acquisition_counts *acquisition_counts(const struct acquisition *acquisition);
/* Samples that found no room in the rings so far; asks the kernel. */
uint64_t acquisition_lost(const struct acquisition *acquisition);
/* The signal that asked for the end; 0: no signal did. */
int acquisition_signal(const struct acquisition *acquisition);
