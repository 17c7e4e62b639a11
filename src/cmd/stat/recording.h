/* The recording that `stat record` writes: what is counted where, the counts of each round, the machine. */
#pragma once
#include "data/writer.h"
#include "record/count/counting.h"
#include "record/write/output.h"

struct stat_recording {
	struct output output;
	struct data_writer writer;
	struct evlist evlist;
	struct writer made;              /* records that are not yet in the writer */
	bool open;
};

struct stat_recording_options {
	uint64_t aggregation;            /* enum stat_aggregation */
	int interval_ms, cache_level;    /* as in enum stat_config_term */
	bool scale;
};

/* Opens the output: path NULL is perf.data, or standard output if that is a pipe. */
int stat_recording_open(struct stat_recording *recording, const char *path, struct error *err);
/* Writes everything that precedes the counts. The counters are open and have their ids. */
int stat_recording_begin(struct stat_recording *recording, const struct counting *counting, const struct stat_recording_options *options,
	struct error *err);
/* Adds the counts of all counters. */
void stat_recording_add(struct stat_recording *recording, const struct counting *counting, const struct counts *counts);
/* Writes the counts of a run without intervals as they are now, as its last round, which the next counts replace: a reader of a recording
 * that was killed finds them. Nothing for a pipe. */
void stat_recording_checkpoint(struct stat_recording *recording, const struct counting *counting, const struct counts *counts,
	uint64_t time_ns);
/* Writes what was added, so that it survives this process. Failures are reported by stat_recording_finish. */
void stat_recording_flush(struct stat_recording *recording);
/* Ends a round of counts; type: enum stat_round_type. */
void stat_recording_round(struct stat_recording *recording, uint64_t type, uint64_t time_ns);
/* Adds the record about the kernel that older readers expect. */
void stat_recording_kernel(struct stat_recording *recording);
/* Writes the header with its features. command: of this program. */
int stat_recording_finish(struct stat_recording *recording, struct events *events, const char *const *command, struct error *err);
/* Closes the output; without stat_recording_finish the file is removed. */
void stat_recording_close(struct stat_recording *recording);
