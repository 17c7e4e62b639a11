/* What a column of a report is: its identity, how a sample or a place is keyed by it, how entries compare, which value an
 * entry has in it. Types
 * only; the columns themselves are rows in analysis/column. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/table/cell.h"
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

/* What a column is. Columns with one id are the same column by several names. ID_NONE: a tracepoint's field. */
enum column_id {
	ID_NONE, ID_COMM, ID_THREAD, ID_DSO, ID_SYMBOL, ID_PARENT, ID_SYMBOL_FROM, ID_SYMBOL_TO,
	ID_DSO_FROM, ID_DSO_TO, ID_ADDR_FROM, ID_ADDR_TO, ID_DADDR, ID_IADDR, ID_DCACHELINE, ID_DADDR_DSO,
	ID_PHYS_DADDR, ID_DATA_PAGE_SIZE, ID_CGROUP, ID_CGROUP_ID, ID_CPU, ID_SOCKET, ID_LOCKED, ID_TLB,
	ID_SNOOP, ID_LEVEL, ID_LOCAL_WEIGHT, ID_WEIGHT, ID_BLOCKED, ID_LOCAL_INS_LAT, ID_INS_LAT,
	ID_LOCAL_P_STAGE_CYC, ID_P_STAGE_CYC, ID_ADDR, ID_TIME, ID_CODE_PAGE_SIZE, ID_TRANSACTION, ID_TRACE,
	ID_MISPREDICT, ID_IN_TX, ID_ABORT, ID_CYCLES, ID_SYMBOL_SIZE, ID_DSO_SIZE, ID_IPC, ID_SYMBOL_OFFSET,
	ID_SIMD, ID_TYPE, ID_TYPE_OFFSET, ID_TYPE_LINE, ID_SRCLINE, ID_SRCFILE, ID_SRCLINE_FROM, ID_SRCLINE_TO,
	ID_COUNT,
	ID_MAX = ID_COUNT + 16 /* room for ID_OWN */
};
/* The id of a column that only its row names: a different number at each use in one file. */
#define ID_OWN ((enum column_id)(ID_COUNT + __COUNTER__))

enum measure {
	MEASURE_OVERHEAD, MEASURE_OVERHEAD_SYS, MEASURE_OVERHEAD_US, MEASURE_OVERHEAD_GUEST_SYS, MEASURE_OVERHEAD_GUEST_US,
	MEASURE_CHILDREN, MEASURE_SAMPLES, MEASURE_PERIOD, MEASURE_WEIGHT1, MEASURE_WEIGHT2, MEASURE_WEIGHT3,
	MEASURE_COUNT
};

enum { COLUMN_KEY_WORDS = 5 }; /* at most, of one column */

/* How a text report aligns a cell. */
enum column_layout {
	LAYOUT_LEFT,          /* padded to the width */
	LAYOUT_LEFT_CUT,      /* and cut at it */
	LAYOUT_CUT,           /* cut, not padded */
	LAYOUT_PLAIN,         /* as it is */
	LAYOUT_RIGHT, LAYOUT_RIGHT_CUT,
	LAYOUT_ZEROS,         /* zeros before the number, as many as the column is wide … */
	LAYOUT_ZEROS_SHORT,   /* … or three less */
	LAYOUT_TASK,          /* "   1234:comm" */
	LAYOUT_SYMBOL,        /* "[k] name" */
	LAYOUT_SYMBOL_OFFSET, /* "[k] name+0x12" */
	LAYOUT_SYMBOL_END,    /* the same, without an offset of 0 */
	LAYOUT_PHYSICAL,      /* "[k] 0x…" */
};

/* A kind of column. */
struct column_type {
	const char *name, *header;
	enum column_class class;
	enum column_id id;      /* its identity; cells of one id share a width */
	enum measure measure;     /* MEASURE */
	const char *fields_header; /* where only --fields names it; NULL: header */
	uint8_t words;            /* of the key */
	uint8_t measure_width;
	bool collapses;           /* entries are merged and filtered once more after reading */
	bool not_in_callers;      /* a caller's entry is looked up without it: recursion is not noticed unless it is 0 */
	/* One of the two: from the sample, or from the place (each frame of a chain has its place). */
	void (*sample_key)(const struct sample_view *view, const struct column *column, uint64_t *key);
	size_t member;            /* with sample_key = member_key: the offset of a u64 in struct sample */
	void (*place_key)(const struct profile *profile, const struct place *place, uint64_t *key);
	/* Entries of one text are joined after they were added up; then the key is the text's number. NULL: not. */
	void (*text)(const struct profile *profile, const struct column *column, const struct entry *entry, struct str *out);
	/* > 0: a precedes b. `sort` decides first in the output, `compare` (total over keys) breaks its ties; NULL: compare. */
	int64_t (*compare)(const struct profile *profile, const struct column *column, const struct entry *a, const struct entry *b);
	int64_t (*sort)(const struct profile *profile, const struct column *column, const struct entry *a, const struct entry *b);
	/* Of most cells, a number by whose rising order compare and sort order them, behind the cells that have none; true: it has. NULL: none
	 * has. It holds where these are total orders. */
	bool (*compare_rank)(const struct profile *profile, const struct entry *entry, uint64_t *rank);
	bool (*sort_rank)(const struct profile *profile, const struct entry *entry, uint64_t *rank);
	/* The entry's cell. *scratch stores texts that are made for it: valid until the next value. */
	struct cell (*value)(const struct profile *profile, const struct column *column, const struct entry *entry, struct str *scratch);
	enum cell_kind kind;
	const char *unit;         /* NULL: absent */
	enum column_layout layout;
	const char *absent, *yes, *no; /* the text for no value, and of flags */
	bool by_symbol;           /* keyed by the symbol, or by the address if the symbol is unknown */
	bool by_address;          /* compares addresses by their difference */
	bool whole_address;       /* distinguishes addresses of one function */
	bool by_map;              /* distinguishes mappings of one module */
	bool narrow;              /* as wide as its header: perf does not measure its cells */
	bool unordered;           /* distinguishes cells without ordering them */
	bool alone;               /* its texts are made by one thread at a time: they need debug information or tracepoints' formats */
};

/* A column in use. */
struct column {
	const struct column_type *type;
	const char *header;
	unsigned at;              /* first word of its key in an entry's row */
	int level;                /* of a hierarchy */
	bool elided, level_elided; /* not shown; not even as a level of a hierarchy */
	unsigned user_width;      /* -w; 0: not given */
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
	bool needs_collapse, has_parent, has_symbol, has_dso, has_thread, has_comm, has_socket, has_type;
	bool by_address;          /* a column distinguishes addresses of one function */
	bool by_map;
};
