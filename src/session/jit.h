/* The dumps of just-in-time compilers that a recording's mappings name, read once each, and their functions put into the model as
 * the recording's clock passes the time they were made at. Internal to session/. */
#pragma once
#include "abi/time_conv.h"
#include "model/model.h"
#include "session/session.h"

struct jit_placing {
	uint64_t time_ns;
	uint32_t order;                   /* in the dump: what came later wins among equal times */
	struct jit_place place;
};

struct reading;

/* One dump: what is still to be placed begins at `at`. */
struct jit_feed {
	int32_t pid;
	VEC(struct jit_placing) placings; /* by time */
	size_t at;
	struct reading *reading;          /* of a dump that may still grow; NULL: all of it was read */
};

struct session_jit {
	VEC(struct jit_feed) feeds;
	VEC(struct jit_place) due;        /* scratch */
	struct time_conv clock;
	size_t open;                      /* dumps that may still grow */
	bool unordered;                   /* records come without a time */
	uint64_t next_ns;                 /* when something is to be placed; UINT64_MAX: nothing is */
};

void session_jit_init(struct session_jit *jit);
void session_jit_fini(struct session_jit *jit);
/* A MMAP or MMAP2 of user memory that the model has applied at clock: reads the dump that it may name. */
void session_jit_take_mapping(struct session *session, struct session_jit *jit, const struct record *record, uint64_t clock);
/* Reads what has been added to dumps since, where the recording is a stream and its processes may still run. */
void session_jit_refresh(struct session *session, struct session_jit *jit);
/* Places what was made until time_ns. */
void session_jit_advance(struct session *session, struct session_jit *jit, uint64_t time_ns, uint64_t clock);
