/* Dumps of just-in-time compilers (jitdump) that a recording's mappings name. Each is read once, and its functions enter the model when the
 * recording's clock passes the time of their creation. Internal to session/. */
#pragma once
#include "abi/time_conv.h"
#include "model/model.h"
#include "session/state.h"

struct jit_placing {
	uint64_t time_ns;
	uint32_t order;                   /* position in the dump: among equal times the later entry replaces the earlier */
	struct jit_place place;
};

struct budget;
struct reading;

/* One dump; placings from index `at` on are pending. */
struct jit_feed {
	int32_t pid;
	VEC(struct jit_placing) placings; /* by time */
	size_t at;
	struct reading *reading;          /* of a dump that may still grow; NULL: completely read */
};

struct session_jit {
	VEC(struct jit_feed) feeds;
	VEC(struct jit_place) due;        /* scratch */
	struct time_conv clock;
	size_t open;                      /* number of dumps that may still grow */
	struct budget *budget;            /* for functions, lines and call frame information; borrowed */
	size_t taken, used;               /* bytes: taken from the budget, and used of them */
	uint64_t lines_read;              /* bytes of line entries that were parsed */
	bool full;                        /* the budget is exhausted: dumps are read no further */
	bool unordered;                   /* records have no time */
	uint64_t next_ns;                 /* time of the next pending placing; UINT64_MAX: none */
};

/* budget: NULL: no limit */
void session_jit_init(struct session_jit *jit, struct budget *budget);
void session_jit_fini(struct session_jit *jit);
/* Reads the dump that a MMAP or MMAP2 of user memory may name, after the model applied that record at clock. */
void session_jit_take_mapping(struct session *session, struct session_jit *jit, const struct record *record, uint64_t clock);
/* Reads data that was appended to dumps, if the recording is a stream and its processes may still run. */
void session_jit_refresh(struct session *session, struct session_jit *jit);
/* Applies the placings up to time_ns. */
void session_jit_advance(struct session *session, struct session_jit *jit, uint64_t time_ns, uint64_t clock);
