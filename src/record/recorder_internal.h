/* What recorder.c and its loop share. Internal to record/. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/writer.h"
#include "data/writer.h"
#include "record/acquire/affinity.h"
#include "record/acquire/build_reader.h"
#include "record/acquire/measurement.h"
#include "record/acquire/switch_event.h"
#include "record/acquire/synthesize.h"
#include "record/recorder.h"
#include "record/write/compress.h"
#include "record/write/output.h"
#include "record/write/ring_files.h"

struct recorder {
	const struct record_options *options;
	struct recording *recording;
	struct measurement measurement; /* its `programs` become those that were loaded at any time until the end */
	struct output output;
	struct data_writer writer;
	struct evlist evlist;          /* the events as the file has them */
	struct compressor compressor;
	struct affinity affinity;
	struct writer packed;          /* compressed records on their way */
	struct writer made;            /* synthesized records on their way */
	struct synthesis synthesis;
	struct build_reader *builds;   /* NULL: build-ids are not asked for */
	uint64_t *seen;                /* by ring: up to where `builds` has looked at its records */
	struct unwinding *unwinding;   /* NULL: no event's stacks are unwound here */
	struct ring_files *ring_files; /* of stacks that are unwound, with --threads; NULL: all goes to one file */
	struct streams *streams;       /* NULL: the loop reads the rings itself */
	bool streams_ended;            /* nothing more will come of them */
	struct stream_totals streamed; /* once they have ended */
	struct writer unwound;         /* records on their way from there */
	int timer, switch_timer;
	bool switch_now;               /* a new file is due */
	struct switch_event switch_event;
	uint64_t wakeups_before;       /* of the files before this one */
	VEC(char *) files;             /* those that were switched from, oldest first */
	size_t window;                 /* next of options->windows */
	bool window_open;
	bool started;                  /* the output holds records */
	bool done;
	char command[256];             /* of --control: what has come of a line */
	size_t command_len;
};

/* Ends the file and begins the next. */
int recorder_switch(struct recorder *r, struct error *err);
void recorder_say(struct recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

int loop_open(struct recorder *r, struct error *err);
void loop_close(struct recorder *r);
/* Starts events that do not start by themselves, or arms what will. */
int loop_start(struct recorder *r, struct error *err);
/* Drains rings until the target has ended, somebody stops it, or a limit is reached. */
int loop_run(struct recorder *r, struct error *err);
/* What overwritten rings hold. */
int loop_snapshot(struct recorder *r, struct error *err);
