/* Columns of a report: the words of --sort and --fields. One row of the table in columns.c tells all of one: its name, its
 * header, how a sample is keyed by it, how two entries compare, how a cell is printed. Knows no option table and no terminal. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct column;
struct entry;
struct hist;
struct map;
struct place;
struct profile;
struct sample_view;
struct tracepoint_field;

enum column_class {
	COLUMN_MEASURE, /* sums over samples */
	COLUMN_COMMON,
	COLUMN_BRANCH,  /* only where each branch is a row */
	COLUMN_MEMORY,  /* only where each memory access is a row */
	COLUMN_FIELD,   /* a tracepoint's field */
};

/* Where widths are shared or set by other columns' cells. WIDTH_NONE: as wide as its header. */
enum column_width {
	WIDTH_NONE, WIDTH_COMM, WIDTH_THREAD, WIDTH_DSO, WIDTH_SYMBOL, WIDTH_PARENT, WIDTH_SYMBOL_FROM, WIDTH_SYMBOL_TO,
	WIDTH_DSO_FROM, WIDTH_DSO_TO, WIDTH_ADDR_FROM, WIDTH_ADDR_TO, WIDTH_DADDR, WIDTH_IADDR, WIDTH_DCACHELINE, WIDTH_DADDR_DSO,
	WIDTH_PHYS_DADDR, WIDTH_DATA_PAGE_SIZE, WIDTH_CGROUP, WIDTH_CGROUP_ID, WIDTH_CPU, WIDTH_SOCKET, WIDTH_LOCKED, WIDTH_TLB,
	WIDTH_SNOOP, WIDTH_LEVEL, WIDTH_LOCAL_WEIGHT, WIDTH_WEIGHT, WIDTH_BLOCKED, WIDTH_LOCAL_INS_LAT, WIDTH_INS_LAT,
	WIDTH_LOCAL_P_STAGE_CYC, WIDTH_P_STAGE_CYC, WIDTH_ADDR, WIDTH_TIME, WIDTH_CODE_PAGE_SIZE, WIDTH_TRANSACTION, WIDTH_TRACE,
	WIDTH_MISPREDICT, WIDTH_IN_TX, WIDTH_ABORT, WIDTH_CYCLES, WIDTH_SYMBOL_SIZE, WIDTH_DSO_SIZE, WIDTH_IPC, WIDTH_SYMBOL_OFFSET,
	WIDTH_SIMD, WIDTH_SRCLINE, WIDTH_SRCFILE, WIDTH_SRCLINE_FROM, WIDTH_SRCLINE_TO,
	WIDTH_COUNT
};

enum measure {
	MEASURE_OVERHEAD, MEASURE_OVERHEAD_SYS, MEASURE_OVERHEAD_US, MEASURE_OVERHEAD_GUEST_SYS, MEASURE_OVERHEAD_GUEST_US,
	MEASURE_CHILDREN, MEASURE_SAMPLES, MEASURE_PERIOD, MEASURE_WEIGHT1, MEASURE_WEIGHT2, MEASURE_WEIGHT3,
	MEASURE_COUNT
};

enum { COLUMN_KEY_WORDS = 5 }; /* at most, of one column */

/* A kind of column. */
struct column_type {
	const char *name, *header;
	enum column_class class;
	enum column_width width;
	enum measure measure;     /* MEASURE */
	const char *fields_header; /* where only --fields names it; NULL: header */
	bool unsupported;         /* a word that perf knows and that is not built yet */
	uint8_t words;            /* of the key */
	uint8_t measure_width;
	bool collapses;           /* entries are merged and filtered once more after reading */
	bool not_in_callers;      /* a caller's entry is looked up without it: recursion is not noticed unless it is 0 */
	/* One of the two: from the sample, or from the place (frames of a chain have places of their own). */
	void (*sample_key)(const struct sample_view *view, const struct column *column, uint64_t *key);
	void (*place_key)(const struct profile *profile, const struct place *place, uint64_t *key);
	/* Entries of one text are joined after they were added up; then the key is the text's number. NULL: not. */
	void (*text)(const struct profile *profile, const struct column *column, const struct entry *entry, struct str *out);
	/* > 0: a stands above b. `sort` decides first in the output, `compare` (total over keys) breaks its ties; NULL: compare. */
	int64_t (*compare)(const struct profile *profile, const struct column *column, const struct entry *a, const struct entry *b);
	int64_t (*sort)(const struct profile *profile, const struct column *column, const struct entry *a, const struct entry *b);
	void (*print)(const struct profile *profile, const struct column *column, const struct entry *entry, unsigned width,
		struct str *out);
};

/* A column in use. */
struct column {
	const struct column_type *type;
	const char *header;
	unsigned at;              /* first word of its key in an entry's row */
	int level;                /* of a hierarchy */
	bool elided, level_elided; /* not shown; not even as a level of a hierarchy */
	unsigned user_width;      /* -w; 0: none */
	/* FIELD: of this event only */
	uint32_t event;
	const struct tracepoint_field *field;
	unsigned field_width;
	bool raw;
};

enum sort_mode { SORT_NORMAL, SORT_BRANCH, SORT_MEMORY, SORT_TRACEPOINT };

/* The columns of one report: every one once in `all`; `sorts` and `fields` are indices into it. */
struct columns {
	VEC(struct column) all;
	VEC(uint32_t) sorts, fields;
	enum sort_mode mode;
	bool needs_collapse, has_parent, has_symbol, has_dso, has_thread, has_comm, has_socket;
	bool by_address;          /* some column tells addresses of one function apart */
	bool by_map;
};

struct column_request {
	const char *sort, *fields; /* as given; NULL: not */
	const char *default_sort;  /* NULL: the mode's own */
	bool children, show_samples, show_period, show_cpu_utilization, with_parent, raw_trace;
	enum sort_mode mode;
	bool tracepoints;         /* all events are: the default is their text */
	/* Adds a tracepoint's fields for a word that is no column: < 0 where it is none. */
	int (*dynamic)(void *context, struct columns *columns, const char *word, int level);
	void *context;
	const char *invalid;      /* set on failure: "--sort" or "--fields" */
};

/* Fills columns. ERROR_USAGE: "Unknown --sort key: `x'". */
int columns_setup(struct columns *columns, struct column_request *request, struct error *err);
void columns_fini(struct columns *columns);
/* Where it turned out that there are no chains to accumulate. */
void columns_cancel_children(struct columns *columns, const char *fields);

/* Adds a sort column; returns its index. */
uint32_t columns_add_sort(struct columns *columns, const struct column_type *type, int level);

extern const struct column_type column_types[];
extern const unsigned column_type_count;
extern const struct column_type column_type_field; /* of tracepoints' fields */
