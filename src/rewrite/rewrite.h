/* A recording → the recording with records added, changed or dropped: the engine of `inject`. Knows no command line and prints nothing.
 *
 * In: a source at its first record, and the options. Out: a new recording, a file or a pipe, with the header of the source as far as it is
 * still true. A file takes its name when it is opened and replaces the older one of that name only by rename; without rewrite_finish it is
 * removed and the older one gets its name again.
 *
 * Order: without a change that depends on samples (-b, -B, -s, -j, --convert-callchain), makes them (--itrace) or adds others
 * (--guest-data), records are written in the order of the source. Otherwise records with a time wait until the source ends, with a guest
 * until their round ends, and are written by time; tool records and records without a time are written as they are read.
 * The model and the ordering are those of a session (model/, session/order.h), but there is no session, for three reasons: perf ignores
 * rounds here, so that late records are sorted, too; a step may drop a mapping before the model applies it, or apply those of a JIT dump
 * in between; and a session applies all side-band of a batch before it delivers the batch's samples, whereas here records are written one
 * by one.
 *
 * Errors: < 0 with *err; nothing of the output is then complete. Damage of the source is no error: rewrite_losses reports it.
 *
 * Memory: 24 bytes (48 while they are sorted) for each record that waits, and its bytes if they are in no file; the history of the model;
 * for JIT dumps at most 256 MiB of code of one function. The budget limits the first two: without room, waiting records are written early,
 * and further mappings are not in the model. If memory nevertheless exceeds the budget, the rest of the records is written unchanged; a
 * change that drops records which the rest may need is an error then. */
#pragma once
#include "data/source.h"
#include "session/losses.h"

struct budget;
struct guest_options;
struct compact_plan;
struct trace_options;
struct image_options;

/* How build-ids are added. */
enum rewrite_ids {
	IDS_NONE,
	IDS_HIT,        /* a record for each file, before the first sample that hits it */
	IDS_ALL,        /* a record for each file, before its first mapping */
	IDS_MMAP2_HIT,  /* mappings wait until a sample hits them; they are then written with their build-ids */
	IDS_MMAP2_ALL,  /* mappings are rewritten with build-ids */
};

struct rewrite_options {
	const char *output;             /* a path, or "-" for standard output */
	const char *const *command;     /* argv, NULL-terminated: the command line in the new header; NULL: that of the source */
	enum rewrite_ids ids;
	const char *known_build_ids;    /* see rewrite/known_ids.h; NULL: absent */
	bool sched_stat;                /* samples of sched_stat_* get the stacks of the last sched_switch; not with the two IDS_*HIT */
	bool convert_stacks;            /* stack copies become call chains; not with trace, guest or plan; the source is a file */
	const struct image_options *images; /* with convert_stacks: where files with call frame information are; borrowed */
	bool jit;                       /* functions of JIT dumps become files and mappings */
	const struct trace_options *trace; /* hardware traces are replaced by their samples; NULL: they are not */
	bool strip;                     /* with trace: samples of other events are dropped */
	const struct guest_options *guest; /* a virtual machine whose recording is added (rewrite/guest_data.h); NULL: none; borrowed */
	bool force;                     /* JIT dumps of other users, too */
	bool indexed;                   /* the file ends in an index of its samples by time (data/time_index.h) */
	const struct compact_plan *plan; /* records that are dropped (rewrite/compact.h), with no other change; NULL: none; borrowed */
	struct budget *budget;          /* for records that wait and the history of mappings; NULL: no limit; borrowed */
	int64_t (*recorded_until)(const struct header *header); /* until_s of recorded_process, for JIT dumps; NULL: another machine */
};

struct rewrite_counters {
	uint64_t samples, bad_samples, unknown_ids; /* of the source, as in session_counters */
	uint64_t unchanged;              /* records behind the position at which memory reached its limit */
	uint64_t jit_files;              /* functions of JIT dumps that became files */
	uint64_t jit_unwritable;         /* functions whose file could not be made; they get no mapping */
	struct error jit_error;          /* why the first of them could not */
};

struct rewrite;

/* Opens the output. source and options are borrowed until rewrite_close. *rewrite is set even on failure, for rewrite_losses and
 * rewrite_close. */
int rewrite_open(struct rewrite **rewrite, struct source *source, const struct rewrite_options *options, struct error *err);
/* Reads the source to its end, or to the damage that ends it, and writes the records. Once. */
int rewrite_run(struct rewrite *rewrite, struct error *err);
/* After the run: whether rewrite_finish copies files that samples hit to the build-id cache. */
bool rewrite_fills_cache(const struct rewrite *rewrite);
/* Writes the rest of the header; the recording is then complete. cache: the folder of the build-id cache; NULL: no copies. */
int rewrite_finish(struct rewrite *rewrite, const char *cache, struct error *err);
/* Accepts NULL. Removes an unfinished file. */
void rewrite_close(struct rewrite *rewrite);

const struct rewrite_counters *rewrite_counters(const struct rewrite *rewrite);
/* Fills in what could not be read of the source so far. */
void rewrite_losses(const struct rewrite *rewrite, struct losses *losses);
