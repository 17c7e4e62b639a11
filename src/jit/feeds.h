/* Dumps of just-in-time compilers (jitdump) that the mappings of processes name. Each is read once, or further as it grows, and its
 * functions enter a model when the clock of the records passes the time of their creation. Opens no file itself. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/time_conv.h"
#include "base/reader.h"
#include "data/evlist.h"
#include "model/model.h"

struct budget;
struct jit_feed;

struct jit_feeds {
	/* set by the caller, and may change */
	struct model *model;              /* receives the functions; borrowed */
	const struct evlist *evlist;      /* whose attributes state the clock of the records; borrowed */
	const char *machine;              /* of the processes, "x86_64", for dumps that leave it out; NULL: unknown; borrowed */
	struct budget *budget;            /* for functions, lines and call frame information; borrowed; NULL: no limit */
	struct time_conv clock;
	bool unordered;                   /* records have no time */
	bool grows;                       /* processes may still append to their dumps */
	bool no_lines;                    /* source lines are not wanted */
	/* Opens the jitdump that process pid mapped under this path; < 0: no trustworthy dump exists. NULL: dumps are not read. */
	int (*open)(void *context, int32_t pid, const char *path, struct reader *reader);
	void *context;

	uint64_t dumps, untimed;          /* dumps that were read; those with times that the clock of the records cannot express */
	uint64_t next_ns;                 /* time of the next pending function; UINT64_MAX: none, also at the beginning */
	size_t growing;                   /* number of dumps that are read further */
	VEC(struct jit_feed) feeds;
	VEC(struct jit_place) due;        /* scratch */
	size_t taken, used;               /* bytes: taken from the budget, and used of them */
	uint64_t lines_read;              /* bytes of line entries that were parsed */
	bool full;                        /* the budget is exhausted: dumps are read no further */
};

void jit_feeds_fini(struct jit_feeds *jit);
/* Reads the dump that a MMAP or MMAP2 of user memory may name, after the model applied that record at clock. */
void jit_feeds_take_mapping(struct jit_feeds *jit, const struct record *record, uint64_t clock);
/* Reads data that was appended to dumps. */
void jit_feeds_refresh(struct jit_feeds *jit);
/* Applies the functions up to time_ns. */
void jit_feeds_advance(struct jit_feeds *jit, uint64_t time_ns, uint64_t clock);
/* The process has ended: its dump is read no further. The functions remain. */
void jit_feeds_end(struct jit_feeds *jit, int32_t pid);
