/* Makes one recording: measures, moves the rings to a file, writes the header. Prints nothing: texts for the user are in struct recording
 * or passed to `say`. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "record/acquire/configure.h"
#include "record/acquire/counters.h"
#include "record/acquire/target.h"
#include "record/acquire/trace.h"
#include "record/off_cpu.h"
#include "record/trigger.h"
#include "record/unwinding.h"
#include "record/write/ring_readers.h"

struct debuginfod;

/* A part of the time, in ms from the start: -D 10-20,30-40. */
struct record_window {
	uint64_t from_ms, to_ms;
};

/* When a new file begins: at a signal, a size, a time; all 0: never. */
struct record_switch {
	bool on_signal;                  /* SIGUSR2 */
	struct events *events;           /* at any of these, on any CPU; NULL: no event */
	uint64_t bytes, seconds;
	unsigned files;                  /* how many of the last files remain; 0: all */
};

/* --affinity: on which CPUs the recorder reads a ring. */
enum record_affinity { AFFINITY_ANY, AFFINITY_NODE, AFFINITY_CPU };

struct record_options {
	struct sampling sampling;
	struct target_options target;
	struct trace_options trace;
	struct events *events;           /* parsed; empty: the default event */
	const char *const *command;      /* to be started; NULL: no command */
	const char *const *whole_command; /* the recorder's own command line, for the header */
	const char *version;             /* for the header */
	const char *output;              /* -o; NULL: see output_open */
	const char *buildid_dir;         /* the build-id cache; NULL: not used */
	const char *user_cache;          /* the folder of what is cached between runs; NULL: nothing is */
	struct budget *budget;           /* of the memory that foreign files can cost; borrowed; NULL: no limit */
	size_t pages;                    /* of a ring; 0: as many as the kernel allows every user */
	uint64_t flush_bytes;            /* --mmap-flush: fewer bytes of a ring are not written */
	uint64_t size_limit;             /* --max-size; 0: none */
	int compression;                 /* zstd level; 0: none */
	enum record_affinity affinity;
	int realtime;                    /* SCHED_FIFO priority; 0: none */
	unsigned map_timeout_ms;
	const struct record_window *windows;
	size_t window_count;
	struct record_switch switching;
	const struct reader_groups *groups; /* --threads: which thread reads which rings; NULL: one thread reads all */
	int control, acknowledge;        /* descriptors of --control; -1: none */
	bool kcore;                      /* --kcore: a folder, with a copy of the kernel's code */
	bool no_guess;                   /* --call-graph unwind: stacks end where no rule applies */
	bool no_join;                    /* … and where their copy ends */
	struct off_cpu_options off_cpu;  /* --off-cpu */
	const struct trigger_spec *trigger; /* --trigger: when snapshots are taken; NULL: not given */
	struct debuginfod *debuginfod;   /* servers of debug files for the cache; NULL: no servers */
	bool no_build_ids, all_build_ids, time_boundary, time_in_name, tail_synthesis;
	bool indexed;                    /* --index: files end with an index by time; not with compression, groups, kcore or a pipe */
	bool no_tasks, no_maps, no_cgroups; /* --synth */
	/* Receives a line for the user during the recording: "Events enabled". */
	void (*say)(void *context, const char *line);
	void *say_context;
};

/* The result. */
struct recording {
	char path[4096];                 /* "-": a pipe */
	char dumped[4096];               /* the last file of --switch-output; empty: there is only one */
	uint64_t wakeups;                /* how often the recorder was woken up */
	uint64_t bytes;                  /* up to the end of the records */
	uint64_t samples;                /* 0: not counted */
	uint64_t compressed_from, compressed_to;
	uint64_t lost_samples;           /* found no room in a ring, counted by the kernel */
	uint64_t filtered_samples;       /* dropped by a condition of --filter */
	uint64_t lost_events, lost_chunks; /* the same, as LOST records state */
	uint64_t cut_traces, trace_pieces; /* pieces of a hardware trace, by AUX records; those with gaps or overwritten bytes */
	uint64_t missing_threads, slow_maps;
	size_t ring_pages;               /* of each ring */
	uint32_t stack_bytes;            /* of the copies of stacks in samples; 0: none */
	uint64_t user_chains, short_chains; /* by frame pointers; those of them that end after one or two frames; 0: not counted */
	struct unwinding_counts unwound; /* stacks that were unwound, by result */
	struct str notes;                /* what was changed so that events could be opened, a sentence a line */
	struct str warnings;             /* what the user should know, a sentence a line */
	uint64_t limit_reached;          /* the size at which size_limit ended it; 0: it did not */
	uint64_t triggered;              /* snapshots that --trigger took */
	bool refused;                    /* it failed since an event could not be opened */
	bool has_status;
	int status;                      /* of the command, as wait(2) gives it */
	int signal;                      /* that asked for the end; SIGPIPE: the reader of the pipe ended; 0: no signal */
};

/* Records. < 0: *err, and a recording without samples is removed. */
int record_run(struct recording *recording, const struct record_options *options, struct error *err);
void recording_fini(struct recording *recording);
