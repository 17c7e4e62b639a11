/* A typed value of a table. Renderers convert it to text: padding, percent signs, units, colour and escapes belong to them. Texts, lists
 * and maps are borrowed until the next value is requested, unless stated otherwise. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cell_kind {
	CELL_ABSENT,  /* no value */
	CELL_COUNT,   /* count */
	CELL_NUMBER,  /* number: may be negative */
	CELL_REAL,    /* real */
	CELL_SHARE,   /* share */
	CELL_BYTES,   /* count, in bytes */
	CELL_TIME,    /* count, in ns */
	CELL_ADDRESS, /* count */
	CELL_FLAG,    /* flag */
	CELL_TEXT,    /* text */
	CELL_TASK,    /* task */
	CELL_PLACE,   /* place */
	CELL_FILE_ID, /* file_id */
	CELL_LIST,    /* list */
	CELL_MAP,     /* map */
	CELL_KINDS
};

/* A part of a whole; 0 of 0 is not a share. */
struct cell_share {
	uint64_t part, whole;
};

struct cell_task {
	int32_t tid;
	const char *comm;
};

/* A resolved address. Texts are valid as long as the symbols. */
struct cell_place {
	const char *module;   /* NULL: in no mapping */
	const char *symbol;   /* demangled; NULL: unknown */
	uint64_t address;
	uint64_t offset;      /* from the start of the symbol */
	const char *line;     /* "file.c:12"; NULL: not requested or unknown */
	char level;           /* mode letter of perf: 'k' kernel, '.' user, 'g' guest kernel, 'u' guest user, 'H' hypervisor */
	char origin;          /* perf's letter for the source of the symbol table; '!': none */
	bool inlined, data;   /* data: the symbol is an object, not a function */
};

struct cell_file_id {
	uint64_t device, inode;
};

/* Cells of any kinds. */
struct cell_list {
	const struct cell *items;
	size_t count;
};

/* Cells of any kinds with names, in this order. */
struct cell_map {
	const struct cell_entry *items;
	size_t count;
};

struct cell {
	enum cell_kind kind;
	union {
		uint64_t count;
		int64_t number;
		double real;
		bool flag;
		const char *text;
		struct cell_share share;
		struct cell_task task;
		struct cell_place place;
		struct cell_file_id file_id;
		struct cell_list list;
		struct cell_map map;
	};
};

struct cell_entry {
	const char *name;
	struct cell value;
};

static inline struct cell cell_list(const struct cell *items, size_t count)
{
	return (struct cell){ .kind = CELL_LIST, .list = { items, count } };
}

static inline struct cell cell_map(const struct cell_entry *items, size_t count)
{
	return (struct cell){ .kind = CELL_MAP, .map = { items, count } };
}

static inline struct cell cell_absent(void)
{
	return (struct cell){ .kind = CELL_ABSENT };
}

static inline struct cell cell_count(uint64_t count)
{
	return (struct cell){ .kind = CELL_COUNT, .count = count };
}

static inline struct cell cell_address(uint64_t address)
{
	return (struct cell){ .kind = CELL_ADDRESS, .count = address };
}

/* 0 gives CELL_ABSENT. */
static inline struct cell cell_bytes(uint64_t bytes)
{
	return (struct cell){ .kind = bytes ? CELL_BYTES : CELL_ABSENT, .count = bytes };
}

static inline struct cell cell_time(uint64_t ns)
{
	return (struct cell){ .kind = CELL_TIME, .count = ns };
}

/* Of a CELL_SHARE, in [0, 1]; 0 of nothing. */
static inline double cell_fraction(const struct cell *cell)
{
	return cell->share.whole ? (double)cell->share.part / (double)cell->share.whole : 0;
}

static inline struct cell cell_number(int64_t number)
{
	return (struct cell){ .kind = CELL_NUMBER, .number = number };
}

static inline struct cell cell_flag(bool flag)
{
	return (struct cell){ .kind = CELL_FLAG, .flag = flag };
}

/* NULL gives CELL_ABSENT. */
static inline struct cell cell_text(const char *text)
{
	return (struct cell){ .kind = text ? CELL_TEXT : CELL_ABSENT, .text = text };
}
