/* What the files of the stream share. Internal to stream*.c. */
#pragma once
#include <pthread.h>

#include "analysis/count/sample_reads.h"
#include "script/stream.h"
#include "script/stat.h"
#include "base/vec.h"
#include "tracepoint/tracepoint.h"

struct source_line;

enum { STREAM_SPILL_BYTES = 1 << 18 };
enum { STREAM_CHAIN_MAX = 8192 /* a record holds no more */, STREAM_PLACES_MAX = CLASS_COUNT, STREAM_STEPS_MAX = 32 };

struct stream_line;
typedef void stream_print(const struct stream_line *line);

/* How samples of one event are printed. */
struct stream_plan {
	uint64_t shown;              /* bits of enum field; 0: nothing of it is printed */
	uint64_t place;              /* what frames show of it */
	uint8_t place_kind;          /* index into stream.places */
	bool comm_plain;             /* not padded: the callchain's lines are what is aligned */
	bool branch_trace, bpf_output, synth;
	bool addr_has_symbol;        /* addr is one that code can be at */
	enum inline_frames inlines;  /* of its chains */
	bool implied_addr;           /* a branch trace shows its target even without addr */
	const char *name;            /* padded, with ": " */
	uint32_t name_len;
	uint32_t event;
	unsigned step_count;
	stream_print *steps[STREAM_STEPS_MAX]; /* what prints the fields after the event's name, in order */
};

/* A frame's line (without what surrounds it), made once per location and kind of place. The first kind lies in the location's note. */
struct frame_text {
	const char *text;            /* NULL: not made yet */
	struct frame_text *next;     /* of another kind; NULL: none yet */
	uint32_t len;
	uint8_t kind;
	uint8_t inlines;             /* functions that were inlined are in it, a line each: enum frame_at + 1 */
	bool stops;                  /* --stop-bt: nothing after it is shown */
};

struct comm_text {
	const char *text;            /* padded; NULL: not made yet */
	uint32_t len;
};

struct stream_slice {
	struct writer *text;         /* NULL: nothing, or it is written */
	bool done;
};

/* Caches of one worker, and the slice it is at. */
struct stream_worker {
	struct writer *out;          /* of that slice; NULL: nothing was printed in it yet */
	size_t slice;
	size_t held;                 /* bytes that out has, as far as told */
	size_t written;              /* bytes of the slice that were written already */
	VEC(struct comm_text) comms;
	struct arena arena;
	struct str scratch;
};

struct stream {
	struct stream_options options;
	struct session *session;
	struct symbols *symbols;
	struct tracepoints *tracepoints; /* NULL: none yet */
	bool tracepoints_tried;
	struct writer *out;
	/* Slices that are done but wait for an earlier one. */
	pthread_mutex_t lock;            /* of what follows, and of out while a batch runs */
	pthread_cond_t turn;             /* next_slice is another */
	VEC(struct stream_slice) slices;
	VEC(struct writer *) spare;
	size_t next_slice;               /* the first that is not written */
	size_t held;                     /* bytes of slices whose turn it is not, as far as told */
	size_t largest;                  /* bytes of a slice */
	struct stream_worker **workers;
	unsigned worker_count;
	struct stream_plan *plans;       /* by event */
	size_t plan_count;
	uint64_t places[STREAM_PLACES_MAX];
	unsigned place_count;
	struct writer **event_writers;   /* by event; NULL: all to the slice */
	struct arena arena;
	struct stream_counters counters;
	struct error error;
	bool serial;                     /* what is printed depends on what was printed before */
	bool has_reads;                  /* some samples stand for several, by the counter values they carry */
	/* State from one sample to the next; only where serial. */
	struct sample_reads reads;
	struct stream_stat stat;
	bool discarding;                 /* between --switch-off and --switch-on */
	uint32_t on_event, off_event;    /* UINT32_MAX: none */
	uint64_t first_time, last_time;
	unsigned data_source_width, call_width;
	struct stream_sources *sources;  /* files whose code is shown; NULL: none yet */
	/* Time of day at one clock of the samples; known: false where the recording tells none. */
	struct { bool known; uint64_t wall_ns, clock_ns; } wall;
};

/* A sample being printed. */
struct stream_line {
	struct stream *stream;
	struct stream_worker *worker;
	const struct stream_plan *plan;
	const struct resolved *r;
	const struct evsel *decoded; /* whose layout the sample was decoded by: of a group's member, the leader's */
	struct writer *out;
};

static inline bool shows(const struct stream_line *line, enum field field)
{
	return line->plan->shown >> field & 1;
}

/* stream_start.c: comm … time. type: of the record. */
void stream_print_start(const struct stream_line *line, uint32_t type);
/* stream_frame.c */
void stream_print_ip(const struct stream_line *line);
void stream_print_addr(const struct stream_line *line);
void stream_print_symbol(const struct stream_line *line, const struct location *location, bool offset);
void stream_print_dso(const struct stream_line *line, const struct location *location);
const struct location *stream_locate(const struct stream_line *line, uint64_t address);
/* stream_source.c */
/* at: where it is known already; NULL. */
void stream_add_source_line(const struct stream *stream, const struct location *location, const struct source_line *at,
	struct writer *out);
void stream_print_source_code(const struct stream_line *line);
void stream_sources_fini(struct stream *stream);
/* stream_branch.c */
void stream_print_branches(const struct stream_line *line);
void stream_print_branch_trace(const struct stream_line *line);
/* stream_field.c */
void stream_plan_steps(struct stream_plan *plan);
void stream_print_instruction(const struct stream_line *line);
/* stream_synth.c */
void stream_print_synth(const struct stream_line *line);
/* stream_slice.c: the writer of a slice, on the worker that has it. Slices are written as soon as none before them is missing. */
struct writer *stream_slice_begin(struct stream *stream, struct stream_worker *worker, size_t slice);
/* Writes what the slice has so far, if it is its turn; waits for that where much is held already. */
void stream_slice_spill(struct stream *stream, struct stream_worker *worker);
/* Nothing more comes of the slice. */
void stream_slice_end(struct stream *stream, struct stream_worker *worker, size_t slice);
void stream_slices_start(struct stream *stream, size_t count);
void stream_slices_fini(struct stream *stream);

/* stream_filter.c: whether a sample (a CPU's record) is not wanted. */
bool stream_drops(const struct stream_line *line);
bool stream_drops_cpu(const struct stream *stream, uint32_t cpu);
/* stream_plan.c: what follows from the events known so far. Owner only. */
void stream_refresh(struct stream *stream);

/* Decimal digits right-aligned in width, and what follows; returns the end. Room for 24 + width is the caller's. */
static inline char *put_decimal(char *p, uint64_t value, unsigned width, char pad)
{
	char digits[20];
	unsigned count = 0;

	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (; width > count; width--)
		*p++ = pad;
	while (count)
		*p++ = digits[--count];
	return p;
}

/* Exactly `count` digits. */
static inline char *put_digits(char *p, uint64_t value, unsigned count)
{
	for (unsigned i = count; i-- > 0; value /= 10)
		p[i] = (char)('0' + value % 10);
	return p + count;
}
