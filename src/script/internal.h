/* Shared by the files of this folder, and by no other. */
#pragma once
#include <pthread.h>

#include "analysis/count/sample_reads.h"
#include "data/branch_counters.h"
#include "script/cells.h"
#include "script/fields.h"
#include "script/stat.h"
#include "script/listing.h"
#include "base/hash.h"
#include "base/vec.h"
#include "tracepoint/tracepoint.h"

struct disassembler;
struct trace_note;
struct branch_line;
struct source_line;

enum { LISTING_SPILL_BYTES = 1 << 18 };
enum { LISTING_CHAIN_MAX = 8192 /* a record holds no more */, LISTING_PLACES_MAX = 2 * CLASS_COUNT };

/* One step of printing a line. */
struct listing_step {
	field_print *print;
	const struct field_row *row;
};

/* How samples of one event are printed. */
struct listing_plan {
	uint64_t shown;              /* bits of enum field; 0: its samples are not printed */
	uint64_t has;                /* the bits of shown that its samples have */
	uint64_t place;              /* the fields of a frame */
	uint8_t place_kind;          /* index into listing.places */
	uint8_t addr_kind;           /* the same for addr_place */
	uint64_t addr_place;         /* the fields of addr's place */
	bool comm_plain;             /* not padded: the lines of the call chain are aligned instead */
	bool branch_trace, source_line_last; /* source_line_last: behind the branch, not in the text of its place */
	bool addr_has_symbol;        /* addr can be an address of code */
	enum inline_frames inlines;  /* of its call chains */
	bool implied_addr;           /* a branch trace shows its target even without addr */
	const char *name;
	const char *label;           /* the name, padded, and ": " */
	uint32_t label_len;
	/* [0, start_count): also on the lines of other records; [start_count, line_count): the rest of the line; then what follows the line */
	unsigned start_count, line_count, step_count;
	unsigned time_step, cycles_step; /* branch_line.c; time_step 0: lines are not stored */
	struct listing_step steps[FIELD_COUNT + 1];
};

/* A frame, made once per point and kind of place: as text (its line without indentation, address and end), or as cells for tables (without
 * the address). The first kind is in the point's note. */
struct frame {
	union {
		const char *text;    /* NULL: not made yet */
		const struct cell *cells; /* of CELL_PLACE: inlined functions, innermost first, and the function */
	};
	struct frame *next;          /* another kind; NULL: no other kind yet */
	uint32_t count;              /* of bytes, or of cells */
	uint8_t kind;
	bool has_more;               /* a NUL separates the lines of inlined functions */
	uint8_t inlines;             /* 0: without inlined functions; otherwise enum frame_at + 1 */
	bool stops;                  /* --stop-bt: the last frame that is shown */
	char brief[16];              /* the text, if it is short */
};

struct comm_text {
	const char *text;            /* NULL: not made yet */
	uint32_t len;
};

struct listing_slice {
	struct writer *text;         /* NULL: empty, or written */
	bool done;
};

/* Caches of one worker, and its current slice. */
struct listing_worker {
	struct writer *out;          /* of that slice; NULL: nothing was printed in it yet */
	size_t slice;
	size_t held;                 /* its part of listing.held */
	size_t written;              /* bytes of the slice that are written */
	VEC(struct comm_text) comms; /* by id: padded, then plain */
	struct arena arena;
	struct arena row;            /* of the current row of a table: cleared with each */
	VEC(struct cell) cells;
	struct writer printed;
	struct writer frame_text;    /* of the frame that is being made */
	struct str scratch;
	struct branch_line *branch_lines; /* NULL: none yet */
	struct arena line_texts;     /* of these lines */
	struct { uint64_t unit; uint32_t len; char text[96]; } time; /* of the last one; len 0: none */
	struct disassembler *disassemblers[2]; /* by is_64bit; NULL: not opened */
};

/* A column of the table. */
struct listing_column {
	const struct field_row *row; /* NULL: of records that are not samples */
	const struct field_column *column;
};

struct listing {
	struct listing_options options;
	struct session *session;
	struct symbols *symbols;
	struct tracepoints *tracepoints; /* NULL: not opened */
	bool tracepoints_tried;
	struct writer *out;
	/* Slices that are done but wait for an earlier one. */
	pthread_mutex_t lock;            /* protects the members up to `largest`, and `out` while a batch runs */
	pthread_cond_t turn;             /* next_slice has changed */
	VEC(struct listing_slice) slices;
	VEC(struct writer *) spare;
	size_t next_slice;               /* the first that is not written */
	size_t held;                     /* bytes in memory of all slices, as of their last spill or end */
	size_t largest;                  /* bytes of a slice */
	struct listing_worker **workers;
	unsigned worker_count;
	struct listing_plan *plans;       /* by event */
	size_t plan_count;
	uint32_t renamed;                 /* as in the list of events, when the plans were made */
	uint64_t places[LISTING_PLACES_MAX];
	unsigned place_count;
	/* The table, instead of text. Its columns are fixed when it begins: with the first batch that knows an event, or at the end. */
	VEC(struct listing_column) columns;
	VEC(struct table_column) table_columns;
	bool table_begun, table_has_rows;
	struct writer **event_writers;   /* by event; NULL: all samples are written to the slice */
	struct arena arena;
	struct listing_counters counters;
	struct error error;
	bool serial;                     /* output depends on earlier output … */
	bool varies;                     /* … in more than call_width */
	bool unfiltered;                 /* only samples of guests may be filtered out */
	bool has_reads;                  /* some samples have counter values: each is a sample of its event */
	/* State from one sample to the next, only if serial. */
	struct sample_reads reads;
	struct listing_stat stat;
	struct idmap graph_of_thread;    /* --graph-function: tid → index of graphs */
	VEC(struct listing_graph {
		bool on;                 /* the thread is in one of the functions, or in what it calls */
		uint32_t depth;          /* of its calls when that began */
		uint32_t now;            /* the depth after its last branch */
	}) graphs;
	struct event_switch switches;
	uint64_t first_time, last_time;
	unsigned data_source_width, call_width;
	struct branch_counters branch_counters;
	struct listing_sources *sources;  /* files whose code is shown; NULL: no file yet */
	/* The time of day at one time of the samples' clock, if the recording has it. */
	struct { bool known; uint64_t wall_ns, clock_ns; } wall;
};

/* A sample being printed. */
struct listing_line {
	struct listing *listing;
	struct listing_worker *worker;
	const struct listing_plan *plan;
	const struct resolved *r;
	const struct evsel *decoded; /* the event by whose layout the sample was decoded: for a member of a group, the leader */
	struct writer *out;
};

static inline bool shows(const struct listing_line *line, enum field field)
{
	return line->plan->shown >> field & 1;
}

/* table.c. Values are valid until the row is complete. */
struct cell listing_text_cell(const struct listing_line *line, const char *text, size_t len);
/* Bytes in hexadecimal; NULL: absent. */
struct cell listing_bytes_cell(const struct listing_line *line, const uint8_t *bytes, size_t len);
/* What a field prints, without spaces around it; nothing: absent. */
struct cell listing_printed_cell(const struct listing_line *line, field_print *print);
/* Begins the table when its columns are known. Owner only. */
void listing_table_begin(struct listing *listing);
/* Prints a row; line->plan may be NULL. record: as text, for records that are not samples; otherwise NULL. */
void listing_table_row(const struct listing_line *line, const char *record);
void listing_table_fini(struct listing *listing);

/* frame.c */
/* A place with these fields of FIELDS_OF_PLACE. */
struct cell listing_place_cell(const struct listing_line *line, const struct location *location, uint64_t fields);
/* As "symbol+0x12" and as " (object)". */
void listing_print_symbol(const struct listing_line *line, const struct location *location, bool offset);
void listing_print_dso(const struct listing_line *line, const struct location *location);
/* The name of the function; NULL: unknown. */
const char *listing_symbol_name(const struct listing_line *line, const struct location *location);
/* The same, and the offset in it. */
const char *listing_symbol_at(const struct listing_line *line, const struct location *location, uint64_t *offset);
/* Where the function ends, in its module; 0: unknown. */
uint64_t listing_symbol_end(const struct listing_line *line, const struct location *location);
/* The location of an address in the address space of the sample's mode, otherwise in that of the other mode. */
const struct location *listing_locate(const struct listing_line *line, uint64_t address);

/* source.c */
/* Adds a line with the source line of a location. at: the source line if it is known; otherwise NULL. */
void listing_add_source_line(const struct listing *listing, const struct location *location, const struct source_line *at,
	struct writer *out);
/* The same behind a prefix; nothing if there is no mapping. */
void listing_add_source_line_after(const struct listing *listing, const struct location *location, const char *prefix, struct writer *out);
/* The text of the source line of a location, as the field srccode. */
void listing_print_source_code(const struct listing_line *line, const struct location *location);
void listing_sources_fini(struct listing *listing);

/* slice.c: each slice has a writer, on the worker that processes it. Slices are written in order. */
struct writer *listing_slice_begin(struct listing *listing, struct listing_worker *worker, size_t slice);
/* Writes the slice's text so far if all slices before it are written; waits for that if much text is in memory. */
void listing_slice_spill(struct listing *listing, struct listing_worker *worker);
void listing_slice_end(struct listing *listing, struct listing_worker *worker, size_t slice);
void listing_slices_start(struct listing *listing, size_t count);
void listing_slices_fini(struct listing *listing);

/* filter.c: whether a sample (a record of a CPU) is filtered out. */
bool listing_drops(const struct listing_line *line);
bool listing_is_unfiltered(const struct listing *listing);
bool listing_drops_cpu(const struct listing *listing, uint32_t cpu);
/* branch.c: the function of a call or return of a trace, and its address (0: neither). NULL: the function is unknown. */
const char *listing_call_name(const struct listing_line *line, const struct trace_note *note, uint64_t *address);
/* branch_line.c: decides whether the lines of the plan, of a hardware trace, are stored. */
void branch_line_plan(struct listing_plan *plan);
/* Prints the whole line of a sample of a hardware trace; false: the caller does. */
bool branch_line_print(const struct listing_line *line);
/* Points were dropped: no line is stored any longer. */
void branch_line_forget(struct listing_worker *worker);
/* graph.c: whether --graph-function leaves the sample out. In the order of the samples. */
bool listing_graph_drops(const struct listing_line *line);
/* plan.c: adopts the events known so far. Owner only. */
void listing_refresh(struct listing *listing);

/* The decimal digits of a number below 100. */
static inline const char *two_digits(unsigned value)
{
	return &"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263"
		"646566676869707172737475767778798081828384858687888990919293949596979899"[2 * value];
}

/* Writes a decimal number, right-aligned in width columns, and returns the end. The caller has reserved 24 + width bytes. */
static inline char *decimal_write(char *p, uint64_t value, unsigned width, char pad)
{
	char digits[20];
	unsigned at = sizeof digits;

	for (; value >= 10; value /= 100)
		memcpy(&digits[at -= 2], two_digits(value % 100), 2);
	if (value || at == sizeof digits)
		digits[--at] = (char)('0' + value);
	for (; width > sizeof digits - at; width--)
		*p++ = pad;
	while (at < sizeof digits)
		*p++ = digits[at++];
	return p;
}

/* Writes exactly `count` digits and returns the end. */
static inline char *digits_write(char *p, uint64_t value, unsigned count)
{
	unsigned at = count;

	for (; at >= 2; value /= 100)
		memcpy(&p[at -= 2], two_digits(value % 100), 2);
	if (at)
		p[0] = (char)('0' + value % 10);
	return p + count;
}
