/* One recording from beginning to end: events opened, rings drained into a file, what the header tells. Says nothing itself:
 * what the user should see comes back in struct recording or through `say`. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "record/acquire/configure.h"
#include "record/acquire/counters.h"
#include "record/acquire/target.h"
#include "record/unwinding.h"
#include "record/write/streams.h"

/* Part of the time to record, in ms from the start: -D 10-20,30-40. */
struct debuginfod;

struct record_window {
	uint64_t from_ms, to_ms;
};

/* When a new file is begun: at a signal, a size, a time; all 0: never. */
struct record_switch {
	bool on_signal;                  /* SIGUSR2 */
	struct events *events;           /* any of these, on any CPU; NULL: none */
	uint64_t bytes, seconds;
	unsigned files;                  /* that many are kept; 0: all */
};

/* --affinity: where the recorder runs while it reads a ring. */
enum record_affinity { AFFINITY_ANY, AFFINITY_NODE, AFFINITY_CPU };

struct record_options {
	struct sampling sampling;
	struct target_options target;
	struct events *events;           /* parsed; empty: the default event */
	const char *const *command;      /* to be started; NULL: none */
	const char *const *whole_command; /* the recorder's own command line, for the header */
	const char *version;             /* for the header */
	const char *output;              /* -o; NULL: see output_open */
	const char *buildid_dir;         /* the build-id cache; NULL: left alone */
	struct budget *budget;           /* memory for what files of others make grow; borrowed; NULL: no limit */
	size_t pages;                    /* of a ring; 0: what the kernel allows everyone */
	uint64_t flush_bytes;            /* --mmap-flush: less is not worth a write */
	uint64_t size_limit;             /* --max-size; 0: none */
	int compression;                 /* zstd level; 0: none */
	enum record_affinity affinity;
	int realtime;                    /* SCHED_FIFO priority; 0: none */
	unsigned map_timeout_ms;
	const struct record_window *windows;
	size_t window_count;
	struct record_switch switching;
	const struct stream_groups *groups; /* --threads: who reads which rings; NULL: one for all */
	int control, acknowledge;        /* descriptors of --control; -1: none */
	bool kcore;                      /* --kcore: a folder, with a copy of the kernel's code */
	bool no_guess;                   /* --call-graph unwind: stacks end where no rule leads on */
	bool no_join;                    /* … and where their copy ends */
	struct debuginfod *debuginfod;   /* debug files for the cache come from these servers; NULL: none */
	bool no_build_ids, all_build_ids, time_boundary, time_in_name, tail_synthesis;
	bool no_tasks, no_maps, no_cgroups; /* --synth */
	/* A line for the user while recording goes on: "Events enabled". */
	void (*say)(void *context, const char *line);
	void *say_context;
};

/* What came of it. */
struct recording {
	char path[4096];                 /* "-": a pipe */
	char dumped[4096];               /* the last file of --switch-output; empty: there is only one */
	uint64_t wakeups;                /* times there was something to write */
	uint64_t bytes;                  /* up to the end of the records */
	uint64_t samples;                /* 0: not counted */
	uint64_t compressed_from, compressed_to;
	uint64_t lost_samples;           /* rings were full: the kernel's own count */
	uint64_t lost_events, lost_chunks; /* as records in the rings tell */
	uint64_t missing_threads, slow_maps;
	size_t ring_pages;               /* of each ring */
	uint64_t user_chains, short_chains; /* by frame pointers; those that end after one or two frames; 0: not counted */
	struct unwinding_counts unwound; /* what became of stacks that were unwound */
	struct str notes;                /* what was changed to make it work, a sentence a line */
	struct str warnings;             /* what the user should know, a sentence a line */
	uint64_t limit_reached;          /* bytes at which size_limit ended it; 0: it did not */
	bool refused;                    /* it failed because an event could not be opened */
	bool has_status;
	int status;                      /* of the command, as wait(2) gives it */
	int signal;                      /* that asked for its end, SIGPIPE: its reader has gone; 0: none */
};

/* Runs it. < 0: *err; the recording, if any was begun, is removed where it holds nothing. */
int record_run(struct recording *recording, const struct record_options *options, struct error *err);
void recording_fini(struct recording *recording);
