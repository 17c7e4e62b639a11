/* One run of `inject`: a recording is read and written again, with more or other records. Internal to the command. */
#pragma once
#include "base/hash.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/inject_write.h"
#include "data/source.h"
#include "model/model.h"
#include "tracepoint/tracepoint.h"

enum { INJECT_WORDS_MAX = 512 };

struct inject_options {
	const char *input, *output, *vmlinux, *kallsyms, *guestmount, *known_build_ids;
	bool build_ids, build_ids_all, mmap2_hit, mmap2_all, sched_stat, jit, force, strip, ignore_vmlinux;
	int verbose;
};

/* How build-ids get in. */
enum inject_ids {
	IDS_NONE,
	IDS_HIT,        /* a record for each file, before the first sample that hits it */
	IDS_ALL,        /* a record for each file, before its first mapping */
	IDS_MMAP2_HIT,  /* mappings wait until a sample hits them, and have build-ids then */
	IDS_MMAP2_ALL,  /* mappings are rewritten with build-ids */
};

/* A record until its turn comes. */
struct waiting {
	uint64_t time, mark;         /* mark: of the source, before it */
	uint64_t offset;
	const uint8_t *body;         /* its head lies in the 8 bytes before it */
};

/* A forked process has the mappings of its parent as they were then. */
struct space_origin {
	uint32_t parent;             /* UINT32_MAX: none is known */
	uint64_t clock;
};

/* A record at work. */
struct step {
	struct record record;
	struct sample sample;        /* or of another record its trailer */
	const struct evsel *evsel;   /* NULL: not known */
	bool decoded;
};

struct inject {
	struct cli *cli;
	const struct inject_options *options;
	struct source *source;
	struct inject_write out;
	struct str words;            /* this command's own */
	char self[4096];
	const char *command[INJECT_WORDS_MAX + 1];
	enum inject_ids ids;
	bool ordered;                /* records with a time wait until all are read, and come in its order */
	bool tracks;                 /* mappings and processes are followed */
	bool sched_stat;             /* that samples of the scheduler are merged */
	struct error stop;           /* what ended the reading early */
	uint64_t samples, bad_samples, unknown_ids;
	VEC(struct waiting) waiting; /* in the order of the file */
	struct model model;
	uint64_t clock;
	size_t build_ids_taken;      /* of the header's, in a pipe they come one by one */
	const struct evsel *mmap_evsel; /* whose trailer records of ours have */
	/* hits */
	VEC(bool) hit;               /* by module */
	uint64_t *seen;              /* hashes of (space, address) that need no second look */
	struct idmap seen_maps;      /* IDS_MMAP2_HIT: (space, mapping) → index in seen_clocks: when it was written */
	VEC(uint64_t) seen_clocks;
	VEC(struct space_origin) origins; /* by space */
	struct known_ids *known;     /* --known-build-ids; NULL */
	/* --sched-stat */
	struct tracepoints *tracepoints;
	bool tracepoints_tried;
	struct idmap switches;       /* tid → the record of its last sched_switch */
	VEC(struct str) switch_records;
	/* --jit */
	struct inject_jit *jit;
};

/* inject_ids.c */
void ids_open(struct inject *inject);
void ids_close(struct inject *inject);
/* A sample is about to be written: notes what it hits, writes what has to stand before it. */
void ids_sample(struct inject *inject, const struct step *step);
/* A mapping that the model knows: true where it is not to be written, or was already. */
bool ids_mapping(struct inject *inject, const struct step *step);
/* A FORK that the model has applied. */
void ids_fork(struct inject *inject, const struct step *step);
void ids_mark(struct inject *inject, uint32_t module);
/* The body of the BUILD_ID feature, of what was hit. */
void ids_feature(const struct inject *inject, struct writer *out);

/* inject_sched.c: true where the record is not to be written. */
bool sched_sample(struct inject *inject, const struct step *step);
void sched_close(struct inject *inject);

/* inject_jit.c */
void jit_open(struct inject *inject);
void jit_clock(struct inject *inject, const struct record *record); /* TIME_CONV */
/* 1 where the mapping is not to be written, as code of its dump was instead; 0; < 0. */
int jit_mapping(struct inject *inject, const struct step *step, struct error *err);
void jit_close(struct inject *inject);
