/* The state that recorder.c and loop.c share. Internal to record/. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/writer.h"
#include "data/writer.h"
#include "record/acquire/affinity.h"
#include "record/acquire/build_reader.h"
#include "record/acquire/control.h"
#include "record/acquire/measurement.h"
#include "record/acquire/urgency.h"
#include "record/acquire/watched_event.h"
#include "record/recorder.h"
#include "record/sample_filters.h"
#include "record/trace_writing.h"
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
	struct writer packed;          /* compressed records, to be written */
	struct writer made;            /* synthesized records, to be written */
	struct build_reader *maps;     /* of perf maps; NULL: the output has no place for them */
	struct build_reader *builds;   /* the same; NULL: build-ids are not wanted */
	uint64_t *seen;                /* by ring: the end of the records that `builds` has seen */
	struct unwinding *unwinding;   /* NULL: no stacks are unwound */
	struct ring_files *ring_files; /* with --threads, if stacks are unwound; NULL: one file */
	struct ring_readers *ring_readers;       /* NULL: the loop reads the rings */
	bool ring_readers_ended;            /* all their tasks have ended, or a ring reader failed */
	struct ring_reader_totals read_totals; /* set at their end */
	struct writer unwound;         /* records of `unwinding`, to be written */
	struct trace_writing traces;
	struct sample_filters filters;
	struct off_cpu off_cpu;
	bool snapshot_now;             /* a snapshot of the trace is requested */
	struct trigger trigger;
	bool rings_now;                /* the trigger fired: a snapshot of the overwritten rings is taken */
	int timer, switch_timer;
	bool switch_now;               /* a new file must begin */
	struct watched_event switch_event;
	struct watched_event programs; /* loads and unloads of BPF programs */
	struct events program_events;
	uint64_t wakeups_before;       /* of the files before this one */
	VEC(char *) files;             /* the finished ones, oldest first */
	size_t window;                 /* index of the next of options->windows */
	bool window_open;
	struct urgency urgency;        /* while rings are read */
	bool started;                  /* the output has records */
	bool done;
	struct control_line command;   /* of --control */
};

/* Finishes the file and begins the next. */
int recorder_switch(struct recorder *r, struct error *err);
/* Writes the synthesized records. */
void recorder_flush_made(struct recorder *r);
/* Whether samples are so frequent that the recorder waits like others for a CPU until it comes late (urgency_open). */
bool recorder_is_frequent(const struct recorder *r);
void recorder_say(struct recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

int loop_open(struct recorder *r, struct error *err);
void loop_close(struct recorder *r);
/* Before measurement_start: starts readers, timers and the events that switch files. */
int loop_start(struct recorder *r, struct error *err);
/* Drains rings until the target has ended, a command stops it, or a limit is reached. */
int loop_run(struct recorder *r, struct error *err);
/* Starts or stops the event of this index, UINT32_MAX: all. */
void loop_enable(struct recorder *r, uint32_t event, bool on);
/* The same for all events, and says so. */
void loop_enable_all(struct recorder *r, bool on);
/* Stops the hardware trace, of which a snapshot is written soon. */
void loop_request_snapshot(struct recorder *r);
/* Writes the records of the overwritten rings. */
int loop_snapshot(struct recorder *r, struct error *err);
