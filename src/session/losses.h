/* Counters of all layers for data of a recording that could not be read, was skipped, or was never recorded. A command that reads a
 * recording reports them once, at the end. Contains no message texts. */
#pragma once
#include "session/session.h"
#include "session/trace.h"

struct losses {
	/* damage: recorded data is not shown */
	struct error stop;           /* the reason why reading ended early; kind ERROR_NONE: none */
	bool unfinished;             /* the recorder wrote neither the length of the data nor the sections after it */
	uint64_t bad_samples;        /* samples that did not decode */
	uint64_t unknown_ids;        /* samples of no known event */
	uint64_t samples;            /* samples that decoded */
	uint64_t bad_records;        /* other records that do not match their type */
	uint64_t bad_offset;         /* of one of them, in the recording … */
	uint32_t bad_type;           /* … and its type; 0: the place is unknown */
	uint64_t bad_attrs, bad_build_ids;
	uint64_t features;           /* a bit per enum feature that the file announces and whose content is invalid */
	/* not damage */
	uint64_t unknown_types;      /* records of a newer kernel or recorder */
	uint64_t left_out_events;    /* events that exceed the limit of memory */
	uint64_t left_out_event_samples; /* samples of no known event, if events are left out */
	uint64_t left_out_maps;      /* mappings that exceed the memory budget */
	uint64_t left_out_samples;   /* samples behind the position at which memory reached the limit */
	uint64_t unchanged;          /* records that inject wrote unchanged, behind that position */
	uint64_t left_out_chains;    /* rows whose call chains exceed it */
	uint64_t lost_events, lost_samples, lost_traces; /* by the kernel, while recording */
	struct trace_losses trace;   /* errors of decoding it; valid as long as the session */
	const struct session *session; /* of the trace; NULL: none */
};

/* Counts what a record of the kernel claims as lost, and a record that is too short for its type. */
void losses_count(struct session_counters *counters, const struct record *record);
/* Fills in the losses of the part of the source that was read; stop: the reason why reading ended early, or NULL. */
void losses_of_source(struct losses *losses, const struct source *source, const struct error *stop);
/* Fills in the losses of a session after session_run, including those of its source. */
void losses_of_session(struct losses *losses, const struct session *session);
bool losses_are_damage(const struct losses *losses);
